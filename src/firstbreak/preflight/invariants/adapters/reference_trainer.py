"""What the adapters of the trainers of `firstbreak.trainers` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

from ..pieces import Batch
from ..torch_types import Tensor, load_torch
from ..witness import Ledger, witnessed
from .attributes import kept_numbers, moves_its_own_way

ROUNDS, PLANNED_ROUNDS = 3, 30
"""Rounds of training in `iterate`, out of so many planned."""


class _EnoughError(Exception):
    """Ends a run from its own log callback."""


class Trainer:
    """What the adapters share."""

    def __init__(self, trainer: Any, algorithm: str, kind: str, ledgers: list[Ledger]) -> None:
        self.trainer, self.algorithm, self.kind, self.ledgers = trainer, algorithm, kind, ledgers
        self.discrete = hasattr(trainer.env.action_spec.space, "n")
        self.last_steps: int | None = None

    def settings(self) -> dict[str, Any]:
        """The canonical settings: those of the config that have their names, and the bounds."""
        config, space = self.trainer.config, self.trainer.env.action_spec.space
        names = ("gamma", "gae_lambda", "clip_range", "exponent_clip", "entropy_coef", "value_coef", "max_grad_norm")
        more = ("tau", "target_interval", "double", "buffer_size", "normalises_advantage", "form")
        found = {name: getattr(config, name) for name in (*names, *more) if hasattr(config, name)}
        if self.algorithm in {"SAC", "DQN"}:
            if not moves_its_own_way(self.trainer):
                found.setdefault("tau", 1.0)
            found.setdefault("target_interval", 1)
            found["learning_starts"] = 0  # `learn` waits for a tenth of the run at most
        if self.discrete:
            return {**found, "n_actions": int(space.n)}
        return {**found, "action_low": space.low[0].tolist(), "action_high": space.high[0].tolist()}

    def rows(self, batch: Batch) -> Any:
        """`batch` as the trainer's own kind of container."""
        from tensordict import TensorDict

        return TensorDict(dict(batch), batch_size=[len(batch["obs"])])

    def predict(self, obs: Tensor, deterministic: bool) -> Tensor:
        """What evaluation gets, row by row."""
        import numpy as np

        torch = load_torch()

        return torch.as_tensor(np.array([self.trainer.act(row.numpy(), deterministic) for row in obs]))

    def witnessed(self) -> Callable[[], Batch] | None:
        """What the environments saw."""
        return (lambda: witnessed(self.ledgers, self.last_steps)) if self.ledgers else None

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Set what a check wants to be otherwise, where the config has it."""
        from dataclasses import replace

        config = self.trainer.config
        known = {k: v for k, v in settings.items() if k in {"entropy_coef"} and hasattr(config, k)}
        self.trainer.config = replace(config, **known)

    def run(self, steps_per_round: int) -> None:
        """The first rounds of `learn`, with a planned length of `PLANNED_ROUNDS`."""
        rounds = 0

        def log(metrics: Any, steps: int) -> None:
            nonlocal rounds
            del metrics, steps
            rounds += 1
            if rounds >= ROUNDS:
                raise _EnoughError

        with kept_numbers(self.trainer):
            self.trainer.env_steps = 0
            with suppress(_EnoughError):
                self.trainer.learn(PLANNED_ROUNDS * steps_per_round, log)


def optimisers(trainer: Any) -> list[Any]:
    """Every optimiser the trainer holds, in attributes or in lists of them."""
    from torch.optim import Optimizer

    found: list[Any] = []
    held = cast(dict[str, Any], vars(trainer))
    for value in held.values():
        items: list[Any] = [*value] if isinstance(value, (list, tuple)) else [value]
        found += [item for item in items if isinstance(item, Optimizer)]
    return found
