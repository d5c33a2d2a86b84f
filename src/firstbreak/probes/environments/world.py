"""`World`: a decision process of a few states, written as tables, so that every answer can be computed by hand.

An action is turned into a *cell*: with discrete actions the action itself, with a Box the equal part of the range that
the action falls into. With several action dimensions the reward is the mean over dimensions (`targets`), and there is
one cell only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["discrete", "continuous"]
"""Which action space a variant of a world has."""

KINDS: tuple[Kind, ...] = ("discrete", "continuous")

GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2
"""How a step leaves the episode."""


@dataclass(frozen=True)
class World:
    """The tables of one environment; `s` is a state, `c` a cell of actions."""

    name: str
    observations: tuple[tuple[float, ...], ...]
    """What is seen in each state [S, D]."""
    starts: tuple[int, ...]
    """States an episode begins in, equally likely; with `by_copy` the k-th copy of the environment takes the k-th."""
    rewards: tuple[tuple[tuple[float, ...], ...], ...]
    """Equally likely rewards of cell c in state s [S, C, any]."""
    successors: tuple[tuple[int, ...], ...]
    """The state after cell c in state s [S, C]; at the end of an episode, the state whose observation is returned."""
    ends: tuple[tuple[int, ...], ...]
    """GOES_ON, TERMINATED or TRUNCATED after cell c in state s [S, C]."""
    by_copy: bool = False
    alternates: bool = False
    """Whether consecutive episodes take the starts in turn, so that a row of another episode shows its sign."""
    low: tuple[float, ...] = (-1.0,)
    """Lower bounds of the Box of the continuous variant [A]."""
    high: tuple[float, ...] = (1.0,)
    """Upper bounds of the Box of the continuous variant [A]."""
    targets: tuple[float, ...] = ()
    """With several dimensions: the best continuous action [A]; the reward falls linearly with the distance to it."""
    choices: tuple[tuple[int, int], ...] = ()
    """With several dimensions: (number of actions, right action) of each dimension of the discrete variant."""
    graded: bool = False
    """Whether the continuous variant pays between the first and the last cell's reward in proportion to the action."""

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.observations)

    @property
    def never_ends(self) -> bool:
        """Whether no step leaves an episode."""
        return all(end == GOES_ON for row in self.ends for end in row)

    @property
    def cells(self) -> int:
        """How many cells an action can fall into."""
        return len(self.rewards[0])

    def cell(self, kind: Kind, action: object) -> int:
        """Return the cell that `action` falls into; actions out of bounds count as at the bound."""
        if self.cells == 1:
            return 0
        flat = float(np.asarray(action, dtype=float).reshape(-1)[0])
        if kind == "discrete":
            return min(max(int(flat), 0), self.cells - 1)
        share = (flat - self.low[0]) / (self.high[0] - self.low[0])
        return min(max(int(share * self.cells), 0), self.cells - 1)

    def example(self, kind: Kind, cell: int) -> list[float] | list[int]:
        """Return an action in the middle of `cell`, flat."""
        if self.targets:
            return [right for _, right in self.choices] if kind == "discrete" else list(self.targets)
        if kind == "discrete":
            return [cell]
        return [self.low[0] + (cell + 0.5) / self.cells * (self.high[0] - self.low[0])]


def one_hot(count: int) -> tuple[tuple[float, ...], ...]:
    """Return `count` observations that differ in one place each [count, count]."""
    return tuple(tuple(float(i == j) for j in range(count)) for i in range(count))
