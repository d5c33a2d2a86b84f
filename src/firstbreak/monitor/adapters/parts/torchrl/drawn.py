"""Whether what a TorchRL loss is given is what the replay buffer holds at the places that were drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from tensordict import TensorDictBase
from torch import Tensor

from ....exchange.uniform_draws import UniformDraws
from ..drawn import ROWS
from ..drawn_tensors import compared
from ..obeying import harmless
from ..replay_chain import MOST_ENTRIES
from .handed_on import seen_by
from .hooks import drawn_from
from .replay import Stored

if TYPE_CHECKING:
    from ....core import Monitor


ALIKE = ("RandomSampler", "SamplerWithoutReplacement")
"""Samplers of TorchRL to which all rows are alike."""


class Draws:
    """Keeps some rows of the first minibatch after each row of the monitor, beside the stored ones.

    They stay on their device until `take`. Buffers that draw ahead of time, or are written to meanwhile, are left
    alone.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._pair: tuple[Mapping[str, Tensor], Mapping[str, Tensor]] | None = None
        self._uniform, self._stored = UniformDraws(), Stored(trainer)
        self._handle = trainer.loss_module.register_forward_pre_hook(self._given)

    def take(self) -> dict[str, float]:
        """Return the share of the rows that are not the stored ones, how uneven their places are, and what is held."""
        pair, self._pair = self._pair, None
        return (compared(*pair) if pair else {}) | self._uniform.take() | self._stored.take()

    def remove(self) -> None:
        """Take the hook away."""
        self._handle.remove()

    def _given(self, _module: Any, args: tuple[Any, ...]) -> None:
        if self._pair is None and args and isinstance(args[0], TensorDictBase):
            self._pair = {}, {}
            with harmless(self.monitor, "rows drawn"):
                self._pair = self._looked(args[0])

    def _looked(self, rows: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        buffer, places = drawn_from(self.trainer), rows.get("index", None)
        if buffer is None or getattr(buffer, "_prefetch", False) or getattr(self.trainer, "async_collection", False):
            return {}, {}
        table = getattr(buffer._storage, "_storage", None)
        if not isinstance(places, Tensor) or not isinstance(table, TensorDictBase) or places.numel() != rows.numel():
            return {}, {}
        if getattr(buffer._storage, "ndim", 1) != 1:
            return {}, {}
        self._spread(buffer, places)
        few = places.reshape(-1)[:ROWS]
        keys = self._keys()
        with torch.no_grad():
            drawn = _columns(rows.reshape(-1)[:ROWS], keys)
            held = _columns(table.select(*keys.values(), strict=False)[few.to(table.device or few.device)], keys)
        return drawn, held

    def _spread(self, buffer: Any, places: Tensor) -> None:
        """Take the places of a draw, where the buffer's own sampler takes all rows alike."""
        position = getattr(buffer._writer, "_cursor", None)
        if type(buffer._sampler).__name__ in ALIKE and position is not None and places.device.type == "cpu":
            self._uniform.add(places.numpy(), int(position), len(buffer._storage))

    def _keys(self) -> dict[str, Any]:
        loss = self.trainer.loss_module
        names, seen = getattr(loss, "tensor_keys", None), seen_by(loss)
        paid = {name: ("next", getattr(names, name, name)) for name in ("reward", "done", "terminated")}
        shown = {} if seen is None else {"obs": seen, "next_obs": ("next", seen)}
        return {"action": getattr(names, "action", "action"), **paid, **shown}


def _columns(rows: Any, keys: Mapping[str, Any]) -> dict[str, Tensor]:
    """The small columns of rows [N], as copies: a loss may write into what it is given."""
    found = {name: rows.get(key, None) for name, key in keys.items()}
    small = {name: column for name, column in found.items() if isinstance(column, Tensor) and len(column)}
    return {name: column.clone() for name, column in small.items() if column[0].numel() <= MOST_ENTRIES}
