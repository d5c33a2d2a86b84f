"""What a set of trajectories is like: ends of the rewards, repeats, dead actions, and the states that it visits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .trajectory import Floats, Trajectory


@dataclass(frozen=True, eq=False)
class Summary:
    """Figures of all episodes, and a few of them whole."""

    returns: Floats
    """Sum of the rewards of each episode [N], NaN where one is not finite."""
    lengths_steps: NDArray[np.int64]
    """[N]."""
    terminated: int
    """Episodes that ended by themselves."""
    truncated: int
    """Episodes that were cut."""
    high: tuple[Trajectory, ...]
    """Of the highest return, highest first."""
    low: tuple[Trajectory, ...]
    """Of the lowest return, lowest first."""
    drawn: tuple[Trajectory, ...]
    """Drawn evenly at random."""
    repeated: int
    """Episodes that are equal to an earlier one in every observation, action and reward."""
    most_repeats: int
    """How often the most frequent episode occurs."""
    one_action: int
    """Episodes of at least two steps in which the action never changes."""
    dead_actions: tuple[int, ...]
    """Dimensions of the action that never change in any episode; discrete actions count as one dimension."""
    dead_observations: tuple[int, ...]
    """Features of the observation that never change."""
    at_bound_frac: float
    """Share of the entries of continuous actions that lie at the least or greatest value of their dimension."""
    not_finite: int
    """Episodes with a number that is not finite."""
    cells: int
    """Cells of the grid over the two main directions of the states."""
    effective_cells: float
    """Cells really used, of all states."""
    effective_cells_high: float
    """The same of the half of the episodes with the higher return, on as many states as of the lower half."""
    effective_cells_low: float
    entropy_nats: float
    """Of the states scaled to spread 1; to be compared between sets of the same environment only."""
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Episodes."""
        return int(self.returns.size)
