"""What the reference DQN and SAC do, beside what their networks would: the best action but for the share that epsilon
sets, or draws of the policy; and whether these networks compute what they computed when training began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ....normal_draws import NormalDraws
from ....odds import Odds
from ..obeying import harmless
from ..standardised import METRIC as DRAWS
from ..standardised import squashed
from ..weights.twin import twin_of

if TYPE_CHECKING:
    from ....core import Monitor

METRIC = "exploration/unlike_greedy_nats"
EVERY = 8
"""Environment steps from one look to the next, as in `sb3_acted`: a look is one forward pass. Engineering choice."""
EVERY_TWIN = 64
"""The same of looks at the network's twin: two forward passes. Engineering choice."""


class Acted:
    """Asks a trainer's network about some of the steps that it took; draws no random number."""

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._odds, self._draws = Odds(), NormalDraws()
        self._steps = 0
        self._greedy = hasattr(trainer, "q_network")
        network = trainer.q_network if self._greedy else trainer.actor
        self._twin = twin_of(network, _values if self._greedy else _means)
        collect = trainer.collect

        def collected() -> Any:
            rows = collect()
            with harmless(monitor, "log_to"):
                self._look(rows)
            return rows

        trainer.collect = collected

    def take(self) -> dict[str, float]:
        """Return how far beyond the odds actions were since the last call, and how far the network from its twin."""
        found = {METRIC: self._odds.take(), DRAWS: self._draws.take()}
        apart = {} if self._twin is None else self._twin.gaps.take()
        return {name: most for name, most in found.items() if most is not None} | apart

    def _look(self, rows: Any) -> None:
        before, self._steps = self._steps, self._steps + len(rows)
        if self._twin is not None and before // EVERY_TWIN != self._steps // EVERY_TWIN:
            self._tell(self._twin.tell(rows["obs"]))
        if before // EVERY == self._steps // EVERY and not self._odds.near and not self._draws.near:
            return
        if self._greedy:
            self._chose(rows)
        elif self.trainer.env_steps - len(rows) >= self.trainer.random_steps:  # before that all is random
            self._drew(rows)

    def _chose(self, rows: Any) -> None:
        trainer = self.trainer
        odds = float(trainer.epsilon) * (1 - 1 / int(trainer.actions))
        with torch.no_grad():
            best = cast(Tensor, trainer.q_network(rows["obs"])).argmax(-1)
        for unlike in (best != rows["action"]).tolist():
            self._say(METRIC, self._odds.add(unlike, odds))

    def _drew(self, rows: Any) -> None:
        actor = self.trainer.actor
        with torch.no_grad():
            mean, log_std = actor(rows["obs"])
            within = (rows["action"] - actor.centre) / actor.half_range
        self._say(DRAWS, self._draws.add(*squashed(within, mean, log_std.exp())))

    def _say(self, metric: str, beyond: float | None) -> None:
        self._tell({} if beyond is None else {metric: beyond})

    def _tell(self, row: dict[str, float]) -> None:
        if row:
            self.monitor.beside(row, step=float(self.trainer.env_steps))


def _values(network: Any, obs: Tensor) -> Tensor:
    return network(obs)


def _means(network: Any, obs: Tensor) -> Tensor:
    return torch.cat(network(obs), 1)


def acted_of(trainer: Any, monitor: Monitor) -> Acted | None:
    """Return what watches the actions of a trainer, greedy but for a share or squashed draws; None of others."""
    greedy = all(hasattr(trainer, name) for name in ("collect", "q_network", "epsilon", "actions"))
    drawn = all(hasattr(trainer, name) for name in ("collect", "random_steps")) and all(
        hasattr(getattr(trainer, "actor", None), name) for name in ("centre", "half_range", "log_density_offset")
    )
    return Acted(trainer, monitor) if greedy or drawn else None
