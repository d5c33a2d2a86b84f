"""One episode of control: what was observed, done and paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sample import NAN

Floats = NDArray[np.float64]
Frames = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """An episode of T steps."""

    source: str
    """The file, below the path asked for."""
    index: int
    """Place in its file, from 0."""
    observations: Floats
    """[T, features] or [T + 1, features]; pictures are not flattened into it, see `frames`."""
    actions: NDArray[Any]
    """[T] of whole numbers, or [T, dimensions]."""
    rewards: Floats
    """[T]."""
    terminated: bool | None = None
    truncated: bool | None = None
    success: bool | None = None
    frames: Frames | None = None
    """[T, height, width, 3]."""

    @property
    def steps(self) -> int:
        """T."""
        return int(self.rewards.size)

    @property
    def paid(self) -> float:
        """Sum of the rewards; NaN where one is not finite."""
        total = float(self.rewards.sum())
        return total if np.isfinite(total) else NAN

    @property
    def discrete(self) -> bool:
        """Whether the actions are whole numbers."""
        return self.actions.dtype.kind in "iub"
