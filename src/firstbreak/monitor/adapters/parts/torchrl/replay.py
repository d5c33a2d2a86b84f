"""How much the replay buffer of a TorchRL trainer holds, and whether its newest rows are links of one chain."""

from __future__ import annotations

from typing import Any, cast

import torch
from tensordict import TensorDictBase
from torch import Tensor

from ..replay_chain import METRIC, MOST_ENTRIES, NEWEST, broken, newest
from .handed_on import seen_by
from .hooks import replay

SIZE = "replay/size"


class Stored:
    """Looks at the buffer that batches go into; says nothing where updates are made of the batch itself."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self._follow = True
        """Whether rows follow from one another at first: those that add up several steps never do."""
        self._seen = False

    def take(self) -> dict[str, float]:
        """Return how much the buffer holds, and what share of its newest rows does not follow."""
        buffer = replay(self.trainer)
        if buffer is None:
            return {}
        chain = _chain(self.trainer, buffer) if self._follow else {}
        if chain and not self._seen:
            self._seen, self._follow = True, chain[METRIC] == 0
        return {SIZE: float(len(buffer._storage))} | (chain if self._follow else {})


def _chain(trainer: Any, buffer: Any) -> dict[str, float]:
    """Compare the last steps of one copy: what a batch brings lies copy by copy, the last one at the end."""
    storage, position = buffer._storage, getattr(buffer._writer, "_cursor", None)
    table, key = getattr(storage, "_storage", None), seen_by(trainer.loss_module)
    steps = _steps_of_one_copy(trainer.collector)
    count = min(NEWEST, steps, len(storage))
    if position is None or key is None or getattr(storage, "ndim", 1) != 1 or count < 2:
        return {}
    if not isinstance(table, TensorDictBase) or table.device not in (None, torch.device("cpu")):
        return {}
    done = getattr(getattr(trainer.loss_module, "tensor_keys", None), "done", "done")
    columns = [cast(Any, table).get(name, None) for name in (key, ("next", key), ("next", done))]
    if not all(isinstance(column, Tensor) and column.device.type == "cpu" for column in columns):
        return {}
    places = torch.as_tensor(newest(count, int(position), len(storage)), device="cpu")
    obs, following, ends = (column[places].numpy() for column in columns)
    if obs.shape != following.shape or obs[0].size > MOST_ENTRIES or ends.size != count:
        return {}
    return broken(obs[:, None], following[:, None], ends.reshape(count, 1))


def _steps_of_one_copy(collector: Any) -> int:
    """How many steps of one copy of the environment a batch has; 0 where that is not known."""
    copies = int(getattr(getattr(collector, "env", None), "batch_size", torch.Size()).numel()) or 1
    return int(getattr(collector, "frames_per_batch", 0) or 0) // copies
