"""From what the user wrote (`module:train`, `sb3:PPO`, `torchrl:module:make`, a callable) to a trainer to call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import InputError
from ...target import load_target
from ..running.training import Reached
from .function import reach_function

SB3 = "sb3:"
TORCHRL = "torchrl:"


def reach(
    trainer: str | Callable[..., Any], settings: Mapping[str, Any] | None = None, steps: int | None = None
) -> Reached:
    """Return the trainer called `trainer`.

    Args:
        trainer: `module:train`, `file.py:train`, `sb3:NAME`, `torchrl:module:make`, or the function itself.
        settings: for SB3, constructor arguments (and `n_envs`) that are laid over the ladder's own; for a function,
            further keyword arguments.
        steps: environment steps of the first try of a rung; by default what suits the trainer.

    Raises:
        InputError: there is no such trainer, or it cannot be called as the ladder does.
    """
    if isinstance(trainer, str) and trainer.startswith(SB3):
        from .sb3 import trainer as sb3_trainer

        return reach_function(sb3_trainer(trainer.removeprefix(SB3), settings or {}), trainer, steps)
    if isinstance(trainer, str) and trainer.startswith(TORCHRL):
        from .torchrl import reach_builder

        reached = reach_builder(trainer.removeprefix(TORCHRL), steps=steps)
        return _with_settings(reached, settings) if settings else reached
    found = load_target(trainer) if isinstance(trainer, str) else trainer
    if isinstance(found, type) and _is_sb3(found):
        from .sb3 import adapt

        return reach_function(adapt(found, settings), str(trainer), steps)
    name = trainer if isinstance(trainer, str) else getattr(trainer, "__name__", "the trainer")
    reached = reach_function(found, name, steps)
    return _with_settings(reached, settings) if settings else reached


def _is_sb3(found: type) -> bool:
    return any(c.__name__ == "BaseAlgorithm" and c.__module__.startswith("stable_baselines3") for c in found.__mro__)


def _with_settings(reached: Reached, settings: Mapping[str, Any]) -> Reached:
    clash = {"total_steps", "seed", "gamma"} & set(settings)
    if clash:
        raise InputError(f"The ladder itself sets {', '.join(sorted(clash))}.", "Leave it out of the settings.")
    inner = reached.train

    def train(make_env: Any, **keywords: Any) -> Any:
        return inner(make_env, **keywords, **settings)

    return Reached(train, reached.takes_gamma, reached.steps, reached.actions)
