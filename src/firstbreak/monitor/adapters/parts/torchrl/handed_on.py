"""What a TorchRL trainer is trained on, beside what the environments under its collector gave and got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ....exchange.choices import choices
from ....exchange.exchanged import of
from ....exchange.glimpses import Glimpses
from ....exchange.handed_on import HandedOn, Stored, taking_turns
from ..brought import brought
from ..replay_chain import newest
from .hooks import replay

if TYPE_CHECKING:
    from ....core import Monitor

MASK = ("collector", "mask")


class StepsOfTrainer:
    """Compares the newest steps of each batch, or of the replay buffer it went into, with those of the world.

    Collectors in other processes, batches that are padded and observations in several pieces are left alone.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._handed = HandedOn()
        self._glimpses = Glimpses(self._handed)
        self._steps = 0
        self._key = seen_by(trainer.loss_module)

    def look(self, found: Any) -> dict[str, float]:
        """Take what a policy was shown at one step, with what it found to do; return what is told at once of those
        before."""
        obs = None if self._key is None else found.get(self._key, None)
        if not isinstance(obs, Tensor) or obs.device.type != "cpu" or obs.dtype == torch.bfloat16:
            return {}
        exchanged = of(self.monitor)
        told = self._glimpses.look(exchanged)
        self._glimpses.show(obs.detach().reshape(int(found.numel()), -1).numpy(), exchanged)
        return told

    def collected(self, batch: Any) -> None:
        """Count the steps of a batch."""
        self._steps += int(batch.numel())

    def take(self, batch: Any) -> dict[str, float]:
        """Return what became of the steps of a batch [*, T]; nothing where the world did not see them all."""
        self._glimpses.row()
        exchanged = of(self.monitor)
        held = 0 if batch.get(MASK, None) is not None else int(batch.numel())
        count = self._handed.due(exchanged, self._steps, held)
        if exchanged is None or not count:
            return {}
        copies = _copies(self.trainer, batch)
        count -= count % copies
        taken = exchanged.last(count)
        if taken is None:
            return {}
        rows = self._rows(batch, copies, count)
        if rows is None:
            return {}
        stored = self._stored(rows, taken.action.shape[1], taking_turns(count, copies))
        return self._handed.numbers(taken, stored)

    def _rows(self, batch: Any, copies: int, count: int) -> Any:
        """The newest rows in the order in which the copies took them."""
        places: NDArray[np.intp] = np.arange(int(batch.numel()))
        buffer = replay(self.trainer)
        if buffer is not None:
            storage, position = buffer._storage, getattr(buffer._writer, "_cursor", None)
            if position is None or getattr(storage, "ndim", 1) != 1 or len(storage) < batch.numel():
                return None
            places = newest(int(batch.numel()), int(position), len(storage))
        table = places.reshape(copies, -1)  # the last dimension of a batch is time
        chosen = torch.as_tensor(np.ascontiguousarray(table[:, -(count // copies) :].T.reshape(-1)))
        return batch.reshape(-1)[chosen] if buffer is None else buffer._storage.get(chosen)

    def _stored(self, rows: Any, columns: int, copy: NDArray[np.intp]) -> Stored:
        loss = self.trainer.loss_module
        keys = getattr(loss, "tensor_keys", None)
        names = {
            "obs": seen_by(loss),
            "action": getattr(keys, "action", "action"),
            "reward": ("next", getattr(keys, "reward", "reward")),
            "ended": ("next", getattr(keys, "done", "done")),
        }
        found = {name: None if key is None else rows.get(key, None) for name, key in names.items()}
        there = {name: value for name, value in found.items() if isinstance(value, Tensor)}
        tables: dict[str, Any] = dict(zip(there, brought(list(there.values())), strict=True))
        if "action" in tables:
            tables["action"] = choices(tables["action"], columns)
        return Stored(**tables, copy=copy)


def _copies(trainer: Any, batch: Any) -> int:
    """How many environments a batch is of; one that was flattened on the way does not say so itself."""
    if batch.ndim > 1:
        return int(batch.numel()) // int(batch.shape[-1])
    env = getattr(trainer.collector, "env", None)
    copies = int(getattr(env, "batch_size", torch.Size()).numel())
    return copies if copies and batch.numel() % copies == 0 else 1


def seen_by(loss: Any) -> Any:
    """Return the key of the one observation that a policy, or a value function that chooses, is given; else None."""
    for name in ("actor_network", "value_network", "qvalue_network"):
        keys = [key for key in getattr(getattr(loss, name, None), "in_keys", ()) if key != "action"]
        if keys:
            return keys[0] if len(keys) == 1 else None
    return None
