"""Which standard task an environment is, as Gymnasium registered it, and what may change its reward on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..vocabulary import WRAPPED_IN

if TYPE_CHECKING:
    from .core import Monitor

REPEATS = frozenset({"AtariPreprocessing", "MaxAndSkipObservation", "RepeatAction", "NormalizeReward"})
"""Wrappers of Gymnasium that pay something else than the task's step does; its `RewardWrapper`s besides."""
NEUTRAL = ("gymnasium.", "stable_baselines3.common.monitor", "firstbreak.")
"""Modules whose other wrappers pass rewards on as they are."""
MOST_WRAPPERS = 50
"""Deeper than this nothing is looked for: an environment that wraps itself must not hang training."""


def name_task(monitor: Monitor, env: Any) -> None:
    """Tell the monitor which task `env` is, unless the settings name one."""
    monitor.configure(task_of(env), give_way=True)


def task_of(env: Any) -> dict[str, str]:
    """Return the settings that name a registered Gymnasium environment; none for any other.

    Args:
        env: An environment with `spec`, and `env` below it where it is a wrapper.

    Returns:
        `env_id`, and `env_wrappers`: the wrappers that may change what it pays, as they have a `step` or `reward` of
        their own. What they do cannot be seen from here, so that the name then proves less.
    """
    name = getattr(getattr(env, "spec", None), "id", None)
    if not isinstance(name, str):
        return {}
    doubted = [kind.__name__ for kind in _layers(env) if _may_pay_otherwise(kind)]
    return {"env_id": name} | ({WRAPPED_IN: ", ".join(doubted)} if doubted else {})


def _layers(env: Any) -> list[type]:
    """The classes of the wrappers around an environment, outermost first."""
    found: list[type] = []
    while len(found) < MOST_WRAPPERS and "env" in getattr(env, "__dict__", ()):
        found.append(env.__class__)
        env = env.env
    return found


def _may_pay_otherwise(kind: type) -> bool:
    if kind.__name__ in REPEATS or any(base.__name__ == "RewardWrapper" for base in kind.__mro__):
        return True
    return not kind.__module__.startswith(NEUTRAL) and _steps_itself(kind)


def _steps_itself(kind: type) -> bool:
    """Whether a class of one's own, not one of the neutral modules, defines `step`."""
    return any("step" in vars(base) and not base.__module__.startswith(NEUTRAL) for base in kind.__mro__)
