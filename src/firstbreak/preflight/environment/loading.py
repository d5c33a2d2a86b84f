"""From what the user names to a factory of environments that speak the Gymnasium API."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from ...errors import InputError, missing_extra
from ...isolation.journal import Journal
from ...target import is_target, load_target
from .shapes import is_tuple

KINDS = ("gymnasium", "vector", "torchrl", "parallel", "old")


@dataclass(frozen=True)
class Source:
    """How an environment is made and which interface it speaks."""

    target: str
    kind: str
    """`gymnasium`, `vector`, `torchrl`, `parallel` (PettingZoo) or `old` (gym before 0.26)."""
    make_raw: Callable[[], Any]
    """Returns the user's own environment."""
    make: Callable[[], Any]
    """Returns it behind the Gymnasium API of a single environment; every call is noted in the journal."""


def source_of(target: str | Callable[[], Any], journal: Journal | None = None) -> Source:
    """Return how to make what `target` names: a Gymnasium id, `module:factory`, or a factory.

    Raises:
        InputError: it names nothing, or the factory returns something that is no environment.
        MissingExtraError: it is a Gymnasium id and Gymnasium is not installed.
    """
    noted = journal or Journal(None)
    registered = isinstance(target, str) and not is_target(target)
    name = target if isinstance(target, str) else getattr(target, "__name__", type(target).__name__)
    make_raw = _factory(target)
    noted.begin("make")
    kind = "gymnasium" if registered else kind_of(make_raw, name, noted)
    adapt = _adapter(kind)

    def make() -> Any:
        from .adapters.noting import Noting

        noted.begin("make")
        return Noting(adapt(make_raw()), noted)

    return Source(name, kind, make_raw, make)


def _factory(target: str | Callable[[], Any]) -> Callable[[], Any]:
    if isinstance(target, str) and not is_target(target):
        return _registered(target)
    found: Any = load_target(target) if isinstance(target, str) else target
    if callable(found):
        return found
    hint = "Name the class or a function without arguments that returns a fresh environment."
    raise InputError(f"{target} is one {type(found).__name__}, not a factory.", hint)


def _registered(name: str) -> Callable[[], Any]:
    try:
        import gymnasium
    except ImportError as error:
        raise missing_extra("gymnasium", "gym", f"Making {name!r}") from error
    make: Any = gymnasium.make
    try:
        gymnasium.spec(name)
    except gymnasium.error.Error as error:
        raise InputError(f"{name}: {error}", _hint(name)) from error
    except ModuleNotFoundError as error:
        raise InputError(f"{name}: {error}", "Run in the folder of the module, or install it.") from error

    def made() -> Any:
        try:
            return make(name, disable_env_checker=True)  # its checker would raise before ours can tell
        except gymnasium.error.DependencyNotInstalled as error:
            raise InputError(f"{name} cannot be made: {error}", "Install what it needs, then try again.") from error

    return made


def _hint(name: str) -> str:
    if name.endswith(".py"):
        return f"Name the factory in it as well: {name}:make_env"
    import difflib

    import gymnasium

    known: list[str] = [str(one) for one in cast(Any, gymnasium.registry)]
    newest = {one.rsplit("-v", 1)[0]: one for one in sorted(known)}
    plain = {key.lower(): one for key, one in newest.items()}
    close = difflib.get_close_matches(name.rsplit("-v", 1)[0].lower(), plain, n=2, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(plain[one] for one in close)}?"
    return "Give a Gymnasium id, or module:factory for your own."


def kind_of(make_raw: Callable[[], Any], name: str, journal: Journal) -> str:
    """Return which interface the environments of a factory speak; one is made and, if need be, stepped once."""
    env = make_raw()
    _refuse_several(env, name)
    try:
        if hasattr(env, "num_envs") and hasattr(env, "single_observation_space"):
            return "vector"
        if any(c.__module__.startswith("torchrl.") for c in type(env).__mro__):
            return "torchrl"
        if hasattr(env, "possible_agents") and callable(getattr(env, "observation_space", None)):
            return _pettingzoo(env, name)
        if not (hasattr(env, "reset") and hasattr(env, "step")):
            hint = "It must return an environment with reset and step."
            raise InputError(f"{name} returns {type(env).__name__}, which is no environment.", hint)
        if not (hasattr(env, "action_space") and hasattr(env, "observation_space")):
            hint = "Set observation_space and action_space, or wrap it for Gymnasium."
            raise InputError(f"{name} returns {type(env).__name__}, which declares no spaces.", hint)
        return "old" if _speaks_old(env, journal) else "gymnasium"
    finally:
        _close(env)


def _refuse_several(env: Any, name: str) -> None:
    """Raise where several environments in one, of a form that is not taken, would be taken for a broken single one."""
    for kind in type(env).__mro__:
        owner = (kind.__module__.partition(".")[0], kind.__name__)
        if owner in (("stable_baselines3", "VecEnv"), ("torchrl", "BatchedEnvBase")):
            _close(env)  # asking it for anything else may start its workers
            hint = "Name the factory of one environment, the one that it is made of."
            raise InputError(f"{name} returns {type(env).__name__}, which steps several environments at once.", hint)


def _pettingzoo(env: Any, name: str) -> str:
    if hasattr(env, "agent_iter"):
        hint = "Return pettingzoo.utils.aec_to_parallel(env)."
        raise InputError(f"{name} returns a turn-based (AEC) environment; the parallel form is needed.", hint)
    return "parallel"


def _speaks_old(env: Any, journal: Journal) -> bool:
    """Whether step returns four values and reset the bare observation, as gym did before 0.26."""
    try:
        journal.begin("reset")
        first = env.reset()
        action = env.action_space.sample()
        journal.act(action)
        told = env.step(action)
    except Exception:  # what is wrong is told by the recorder, with the actions that lead there
        return False
    return is_tuple(told, 4) and not (is_tuple(first) and len(first) == 2)


def _close(env: Any) -> None:
    with contextlib.suppress(Exception):
        env.close()


def _adapter(kind: str) -> Callable[[Any], Any]:
    if kind == "gymnasium":
        return lambda env: env
    from importlib import import_module

    where = {"vector": "vector", "torchrl": "torchrl", "parallel": "pettingzoo", "old": "old_gym"}[kind]
    return import_module(f"firstbreak.preflight.environment.adapters.{where}").adapt
