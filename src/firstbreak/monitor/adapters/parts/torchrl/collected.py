"""What is seen of a TorchRL batch as its collector made it, before hooks of the trainer write into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ....exchange.exchanged import of
from ..brought import brought
from ..limits import MOST_COPIES, Limits
from ..obeying import harmless
from ..player import METRIC as PLAYED
from ..resets import MOST_ENTRIES, Resets
from .acted import ActedOfTrainer
from .handed_on import MASK, seen_by
from .hooks import BEFORE_UPDATES
from .player import PlayerOfTrainer

if TYPE_CHECKING:
    from ....core import Monitor

CUT_BY_COLLECTOR = ("reset_at_each_iter", "set_truncated", "trajs_per_batch")
"""Settings of a collector with which it ends episodes itself, at places that say nothing of the environment."""


class Collected:
    """Who played a batch, whether its episodes begin anew, and where they are cut.

    The first hook before all updates: `ReplayBufferTrainer` writes into the last step of each batch.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._player, self._acted = PlayerOfTrainer(trainer), ActedOfTrainer(trainer)
        self._resets, self._limits = Resets(), Limits()
        self._found: dict[str, float] = {}
        trainer.register_op("batch_process", self._look)
        operations: list[Any] = getattr(trainer, BEFORE_UPDATES)
        operations.insert(0, operations.pop())

    def take(self) -> dict[str, float]:
        """Return what was seen since the last call."""
        found, self._found = self._found, {}
        return found | self._resets.take() | self._limits.take() | self._acted.take()

    def _look(self, batch: Any) -> None:
        parts: dict[str, Tensor] = {}
        with harmless(self.monitor, "MonitorHook"):
            parts = self._ends(batch)
            if not parts:
                self._limits.forget()
        with harmless(self.monitor, "who plays"):
            gap = self._player.look(batch)
            parts |= {} if gap is None else {PLAYED: gap.to(batch.device or gap.device)}
        with harmless(self.monitor, "what is done"):
            self._acted.look(batch, alike=self._player.alike())
        with harmless(self.monitor, "MonitorHook"):
            self._note(dict(zip(parts, brought(list(parts.values())), strict=True)))

    def _ends(self, batch: Any) -> dict[str, Tensor]:
        """Of a few copies: whether steps [N, T] ended an episode, by itself, and how far the next observation is."""
        keys = getattr(self.trainer.loss_module, "tensor_keys", None)
        over = batch.get(("next", getattr(keys, "done", "done")), None)
        ended = batch.get(("next", getattr(keys, "terminated", "terminated")), None)
        collector = self.trainer.collector
        if any(getattr(collector, name, None) for name in CUT_BY_COLLECTOR) or batch.get(MASK, None) is not None:
            return {}
        if not batch.ndim or any(part is None or part.numel() != batch.numel() for part in (over, ended)):
            return {}
        steps = int(batch.shape[-1])
        found = {name: part.reshape(-1, steps)[:MOST_COPIES] for name, part in (("over", over), ("ended", ended))}
        key = seen_by(self.trainer.loss_module)
        shown, follows = (None if key is None else batch.get(name, None) for name in (key, ("next", key)))
        if not isinstance(shown, Tensor) or not isinstance(follows, Tensor) or shown.shape != follows.shape:
            return found
        if steps < 2 or shown.numel() > MOST_ENTRIES * batch.numel():
            return found
        width = shown.numel() // batch.numel()
        first, last = (part.reshape(-1, steps, width)[:MOST_COPIES] for part in (shown, follows))
        with torch.no_grad():
            return found | {"apart": (first[:, 1:].double() - last[:, :-1].double()).abs().sum(-1)}

    def _note(self, tables: Mapping[str, Any]) -> None:
        if PLAYED in tables and tables[PLAYED] == tables[PLAYED]:
            self._found[PLAYED] = float(tables[PLAYED])
        if "apart" in tables:
            begins = tables["over"][:, :-1] != 0
            for apart in tables["apart"][begins].tolist():
                self._resets.add_distance(apart)
        exchanged = of(self.monitor)
        if "over" in tables and (exchanged is None or not exchanged.count):  # else the world counts them
            self._limits.add(tables["over"].T, tables["ended"].T)
