"""Whether an optimiser finds the state that its last step left: moments are its own, and nobody else's to write.

A resume that loads weights alone, a second optimiser made on the way, or code that writes into moments changes no
weight. The step that follows is what the optimiser's rule makes of the new state, so that it shows in no step either.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

METRIC = "optim/state_moved_frac"
ENTRIES = 18
"""Entries of each moment that are looked at. Engineering choice: what loses a state loses all of it."""


class KeptState:
    """Looks at the moments of one weight of an optimiser, as views: a look copies a few numbers.

    Args:
        optimiser: Public is its `state`.
        weight: The weight whose moments are looked at.
        names: Of its moments in the state; where there are none nothing is ever said.
    """

    def __init__(self, optimiser: Any, weight: Tensor, names: tuple[str, ...]) -> None:
        self._optimiser, self._weight, self._names = optimiser, weight, names
        self._tensors: list[Any] = []
        self._views: list[NDArray[Any]] = []
        self._left: list[bytes] = []
        self._largest = np.nan

    def note(self) -> None:
        """Say that from here to the next step nobody may write into the state."""
        self._left = [view.tobytes() for view in self._views] if self._names and self._found() else []

    def look(self) -> bool:
        """Return whether the state is not the one that was noted, once for each note."""
        left, self._left = self._left, []
        if not left:
            return False
        if not self._found():
            self._largest = 1.0
            return True
        now = [view.tobytes() for view in self._views]
        if now == left:
            self._largest = 0.0 if np.isnan(self._largest) else self._largest
            return False
        kinds = [view.dtype for view in self._views]
        self._largest = float(np.fmax(self._largest, max(map(_apart, left, now, kinds))))
        return True

    def take(self, forget: bool) -> float | None:
        """Return the largest change since it was forgotten over the size of what was left; None where none was seen."""
        largest, self._largest = self._largest, np.nan if forget else self._largest
        return None if np.isnan(largest) else largest

    def _found(self) -> bool:
        """Whether all moments are there; views are made again where one is another tensor."""
        state = cast("dict[str, Any]", self._optimiser.state.get(self._weight) or {})
        tensors = [state.get(name) for name in self._names]
        if len(tensors) == len(self._tensors) and all(map(_same, tensors, self._tensors)):
            return True
        if not all(map(_readable, tensors)):
            return False
        self._tensors, self._views = tensors, [_view(cast(Tensor, tensor)) for tensor in tensors]
        return True


def _same(one: Any, other: Any) -> bool:
    return one is other


def _readable(tensor: Any) -> bool:
    return isinstance(tensor, Tensor) and tensor.device.type == "cpu" and tensor.is_contiguous() and tensor.numel() > 0


def _view(tensor: Tensor) -> NDArray[Any]:
    """Every so many entries, as a view of the tensor's own memory."""
    flat: NDArray[Any] = cast(Any, tensor.detach()).reshape(-1).numpy()
    stride = max(1, flat.size // ENTRIES) | 1
    return flat[: stride * ENTRIES : stride]


def _apart(left: bytes, now: bytes, kind: Any) -> float:
    """How far a moment moved over its size, at most 1; moments that are no number are told of elsewhere."""
    before, after = (np.frombuffer(raw, kind).astype(np.float64) for raw in (left, now))
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        return 0.0
    far, size = float(np.linalg.norm(after - before)), float(np.linalg.norm(before))
    return min(1.0, far / size) if size > 0 else float(far > 0)
