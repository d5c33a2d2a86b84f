"""How large a fault of the fifth live campaign is by now: it begins with nothing and grows to all."""

from __future__ import annotations

import math
from collections.abc import Callable

from drawn_list import EARLIEST, LATEST
from worlds import Truth

FIRST, LAST = 0.4, 0.6
"""Shares of a run between which a fault begins: earlier than in the other lists, as its harm takes time."""
RAMP = 0.15
"""Share of a run in which a dose grows from 0 to 1, in a straight line; there it stays."""
Dose = Callable[[], float]
"""Answers what share of a fault is there by now, 0 to 1."""


def doses(truth: Truth, total: float) -> Dose:
    """Return the dose by the steps (updates of a language model) that `truth` has counted, in a run of `total`."""

    def dose() -> float:
        gone = (truth.steps - truth.began) / (RAMP * total)
        return 0.0 if math.isnan(gone) else min(max(gone, 0.0), 1.0)

    return dose


def earlier(share: float) -> float:
    """Return an instant that was drawn between `EARLIEST` and `LATEST` as it lies between `FIRST` and `LAST`."""
    return FIRST + (LAST - FIRST) * (share - EARLIEST) / (LATEST - EARLIEST)


def between(first: float, last: float, dose: float) -> float:
    """Return what goes from `first` to `last` by the same factor at every step."""
    return first * (last / first) ** dose
