"""Whether what the reference DQN does is what its network finds best, but for the share that epsilon sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ..odds import Odds
from .obeying import harmless

if TYPE_CHECKING:
    from ..core import Monitor

METRIC = "exploration/unlike_greedy_nats"
EVERY = 8
"""Environment steps from one look to the next, as in `sb3_acted`: a look is one forward pass. Engineering choice."""


class Acted:
    """Asks a trainer's network about some of the steps that it took; draws no random number."""

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._odds = Odds()
        self._steps = 0
        collect = trainer.collect

        def collected() -> Any:
            rows = collect()
            with harmless(monitor, "log_to"):
                self._look(rows)
            return rows

        trainer.collect = collected

    def _look(self, rows: Any) -> None:
        before, self._steps = self._steps, self._steps + len(rows)
        if before // EVERY == self._steps // EVERY and not self._odds.near:
            return
        trainer = self.trainer
        odds = float(trainer.epsilon) * (1 - 1 / int(trainer.actions))
        with torch.no_grad():
            best = cast(Tensor, trainer.q_network(rows["obs"])).argmax(-1)
        for unlike in (best != rows["action"]).tolist():
            beyond = self._odds.add(unlike, odds)
            if beyond is not None:
                self.monitor.beside({METRIC: beyond}, step=float(trainer.env_steps))

    def take(self) -> dict[str, float]:
        """Return how far beyond the odds actions were since the last call."""
        most = self._odds.take()
        return {} if most is None else {METRIC: most}


def acted_of(trainer: Any, monitor: Monitor) -> Acted | None:
    """Return what watches a trainer's actions; None where it is not greedy but for a share."""
    known = all(hasattr(trainer, name) for name in ("collect", "q_network", "epsilon", "actions"))
    return Acted(trainer, monitor) if known else None
