"""Whether who plays a rollout is who is trained: held against each other at some of its steps, while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .gaps import Gaps
from .obeying import harmless
from .weights.twin import ROWS, parameters_of, twin_of

if TYPE_CHECKING:
    from ...core import Monitor
    from .weights.at_rest import AtRest

METRIC = "policy/player_gap_nats"
EVERY = 64
"""Environment steps from one look to the next. Engineering choice: two forward passes where 64 steps take some
milliseconds, and none where the network that plays is the one that is trained."""


def gap(played: Tensor, trained: Tensor) -> float:
    """Return the mean distance of two log-probabilities [N] of the same actions, in nats."""
    return float((played - trained).abs().mean())


class Player:
    """Watches the rollouts of a reference trainer; draws no random number.

    A trainer asks its network for a distribution, draws, and hands the action to `executed`. Where the network that it
    asks is another one than the one whose weights its optimiser holds, both are asked about that action.
    """

    def __init__(self, trainer: Any, monitor: Monitor, resting: AtRest) -> None:
        self.trainer, self.monitor, self.resting = trainer, monitor, resting
        self._learner = trainer.actor
        self._playing = self._again = False
        self.steps = 0
        """Steps of all copies in the rollout that is played, the one that is taken now included."""
        self.gaps = Gaps(METRIC)
        self._twin = twin_of(self._learner, lambda asked, states: parameters_of(asked.distribution(states)))
        self.shown: Callable[[Tensor], dict[str, float]] | None = None
        """Is told what the policy is shown at each step of a rollout; says what is to be told at once."""
        collect, executed = trainer.collect, trainer.executed

        def watched() -> Any:
            self._playing, self.steps = True, 0
            try:
                return collect()
            finally:
                self._playing = False

        def seen(action: Tensor) -> Any:
            if self._playing:
                with harmless(monitor, "log_to"):
                    self._step(action)
            return executed(action)

        trainer.collect, trainer.executed = watched, seen

    def _step(self, action: Tensor) -> None:
        copies = len(action)
        if self.shown is not None and (apart := self.shown(self.trainer._now["observation"])):
            self.monitor.beside(apart, step=float(self.trainer.env_steps + self.steps))
        due = self._again or self.steps % EVERY < copies
        self.steps += copies
        if not due:
            return
        self.resting.look_on()  # in case it is the weights themselves that were changed to play with
        trainer, found = self.trainer, 0.0
        self._again = False
        if self._twin is not None:
            self._tell(self._twin.tell(trainer._now["observation"][:ROWS]))
        if trainer.actor is not self._learner and not self._held(trainer.actor):
            obs = trainer._now["observation"]
            with torch.no_grad():
                played, trained = (one.distribution(obs).log_prob(action) for one in (trainer.actor, self._learner))
            found = gap(played, trained)
        if self.gaps.add(found):
            self._again = found > 0
            self._tell({METRIC: found})

    def take(self) -> dict[str, float]:
        """Return the largest gaps since the last call."""
        return self.gaps.take() | ({} if self._twin is None else self._twin.gaps.take())

    def _tell(self, row: dict[str, float]) -> None:
        if row:
            self.monitor.beside(row, step=float(self.trainer.env_steps + self.steps))

    def _held(self, network: Any) -> bool:
        """Whether an optimiser of the trainer holds a network's weights: then it is the one that is trained now."""
        known = {id(weight) for group in self.trainer.optimiser.param_groups for weight in group["params"]}
        return all(id(weight) in known for weight in network.parameters())


def player_of(trainer: Any, monitor: Monitor, resting: AtRest) -> Player | None:
    """Return what watches a trainer's rollouts; None where it collects none with an actor."""
    if not hasattr(trainer, "executed") or not hasattr(getattr(trainer, "actor", None), "distribution"):
        return None
    return Player(trainer, monitor, resting)
