"""Whether an entry of the observation stands still that always moved: a sensor that answers with its last reading."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .columns import mean
from .transitions import Floats

METRIC = "obs/stuck_frac"
KNOWN = 384
"""Steps that must be known before. Engineering choice: what a first policy does now and then is among them."""
MOST_STILL = 0.25
"""Share of the steps of any stretch before in which an entry may have stood still, ..."""
SELDOM = 0.01
"""... and of all steps. Engineering choices: an entry that goes with an action (the action before, a speed that nothing
disturbs) stands still whenever a choice is made twice."""
FORESEEN = 0.2
"""Of the usual size of an entry's change, what must be foreseen of it, at least: what comes to rest by itself is known
to. Engineering choice."""


class Stuck:
    """Counts, entry by entry [D], in how many steps of a stretch an observation was exactly what it was before."""

    def __init__(self, width: int) -> None:
        self._steps = 0
        self._still = np.zeros(width, dtype=np.intp)
        self._free = np.ones(width, dtype=np.bool_)
        """Which never stood still in more than `MOST_STILL` of the steps of a stretch."""
        self._last: tuple[int, NDArray[np.intp] | None] = 0, None
        """Steps of the stretch before and in how many each stood still, None for none. It is not counted in yet: what
        breaks in its middle must not be taken for what is usual."""

    def stretch(self, before: Floats, after: Floats, low: Floats, high: Floats) -> NDArray[np.bool_] | None:
        """Take a stretch of steps, observations before and after them [m, D].

        Return which entries [D] stand still in all of it, though they hardly ever did and are at no end of where they
        ever were, while others move as always; None where there are none, or too little is known.

        Args:
            before: [m, D].
            after: [m, D].
            low: The least that each ever was [D].
            high: The largest [D].
        """
        same = before == after
        still = np.add.reduce(same) if np.logical_or.reduce(same, axis=None) else None
        found = None
        if still is not None and self._steps >= KNOWN and ((still == len(after)) & self._free).any():
            moves = self._free & (self._still <= SELDOM * self._steps)
            stuck = moves & (still == len(after)) & (after > low).all(0) & (after < high).all(0)
            others = moves & (still <= MOST_STILL * len(after))
            found = stuck if stuck.any() and others.any() else None
        self._count(*self._last)
        self._last = len(after), still
        return found

    def _count(self, steps: int, still: NDArray[np.intp] | None) -> None:
        self._steps += steps
        if still is not None:
            self._still += still
            self._free &= still <= MOST_STILL * steps


def foretold(change: Floats, usual: Floats) -> NDArray[np.bool_]:
    """Return of which entries [D] more than rest was foreseen.

    Args:
        change: What a model foresees of them [m, D].
        usual: The usual size of their changes [D].
    """
    return mean(change * change) >= (FORESEEN * usual) ** 2
