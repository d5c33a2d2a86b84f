"""`PolicyTrial`: what a policy answered to the observations it met, and what an expert earned against chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class PolicyTrial:
    """The subject of the checks of a policy. Without a policy `answers` is empty, without an expert no returns."""

    target: str
    action_space: Any
    policy: str = ""
    """How the policy was named; empty when none was given."""
    answers: Sequence[Any] = ()
    """What the policy returned for each observation, as it came (tensors as arrays)."""
    again: Sequence[Any] = ()
    """What it returned when asked a second time with the same observation."""
    distinct_observations: int = 0
    """How many different observations it was asked with."""
    error: str = ""
    """The exception that the policy raised, if any."""
    error_step: int = 0
    expert: str = ""
    random_returns: Array | None = None
    """[n]: undiscounted returns of random episodes."""
    expert_returns: Array | None = None
    """[m]: undiscounted returns of the expert's episodes."""
    expert_error: str = ""

    @property
    def box(self) -> bool:
        """Whether the action space is a Box."""
        return hasattr(self.action_space, "low") and hasattr(self.action_space, "high")

    @property
    def discrete(self) -> bool:
        """Whether the action space is a single discrete choice."""
        return hasattr(self.action_space, "n") and not getattr(self.action_space, "shape", ())

    def fitting(self) -> Array | None:
        """Return the answers as [n, A] numbers, those of the right size only; None when there are none."""
        size = len(np.ravel(self.action_space.low)) if self.box else 1
        arrays = [np.ravel(np.asarray(a)) for a in self.answers]
        kept = [a.astype(float) for a in arrays if a.size == size and a.dtype.kind in "biuf"]
        return np.array(kept) if kept else None
