"""A pile of rows at the greatest length: the mark that a limit cut them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST = 50
"""Rows; with fewer the greatest length says nothing."""
SHARE = 0.01
COUNT = 5
DENSER = 10.0
"""How many times denser the greatest length must be than the lengths just below."""
LARGE = (0.1, 4.0)
"""With a tenth of all rows at the greatest length, four times denser is enough."""
PACKED = 0.9
"""With nearly all rows at the greatest length the rows are packed to it on purpose."""
FEW = 10
"""Fewer different lengths are those of a form with a few choices."""
NEIGHBOURS = 0.2
"""The lengths just below: the upper fifth."""


@dataclass(frozen=True)
class Spike:
    """`count` of `rows` rows have the greatest `length`; the neighbours make one expect `expected` there."""

    length: int
    count: int
    rows: int
    expected: float

    @property
    def share(self) -> float:
        """Share of the rows."""
        return self.count / self.rows


def spike(lengths: Sequence[int]) -> Spike | None:
    """Return the pile at the greatest of `lengths` [n], None when there is none that a limit would make."""
    n = np.asarray(lengths, np.int64)
    if n.size < LEAST:
        return None
    top = int(n.max())
    count = int((n == top).sum())
    start = int((1 - NEIGHBOURS) * top)
    expected = int(((n >= start) & (n < top)).sum()) / max(1, top - start)
    if count < max(COUNT, SHARE * n.size) or _may_be_a_form(n, count):
        return None
    denser = LARGE[1] if count >= LARGE[0] * n.size else DENSER
    return Spike(top, count, int(n.size), expected) if count >= denser * max(expected, 0.1) else None


def pile(lengths: Sequence[int]) -> Spike | None:
    """Return the pile at the greatest of `lengths` [n] where a form may be the reason; None where there is none.

    Nearly all rows have that length, or there are few lengths at all: the lengths themselves cannot tell then.
    """
    n = np.asarray(lengths, np.int64)
    if n.size < LEAST:
        return None
    top = int(n.max())
    count = int((n == top).sum())
    if count < max(COUNT, LARGE[0] * n.size) or top == 0 or not _may_be_a_form(n, count):
        return None
    return Spike(top, count, int(n.size), 0.0)


def _may_be_a_form(n: NDArray[np.int64], count: int) -> bool:
    return count > PACKED * n.size or np.unique(n).size < FEW
