"""One metric in bounded memory: exactly the points that a view of the whole prefix would keep, and exact extremes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..series import Curve, Floats, Tally
from ..view import HEAD, MIDDLE, TAIL

ODD = 32
"""Non-finite points kept from the start, and as many from the end. Engineering choice."""
NAN = float("nan")


def _none() -> Floats:
    return np.empty(0)


@dataclass
class Columns:
    """Points in order: `step`, `value`, `wall` [n]."""

    step: Floats = field(default_factory=_none)
    value: Floats = field(default_factory=_none)
    wall: Floats = field(default_factory=_none)

    def where(self, which: NDArray[np.bool_] | slice) -> Columns:
        """Return the points at `which`."""
        return Columns(self.step[which], self.value[which], self.wall[which])

    def then(self, other: Columns) -> Columns:
        """Return these points followed by those of `other`."""
        pairs = ((self.step, other.step), (self.value, other.value), (self.wall, other.wall))
        return Columns(*(np.concatenate(pair) for pair in pairs))


class Track:
    """A growing series. The newest point is held back, since a later one at its step would replace it.

    Memory is bounded by the budget of a view (`firstbreak.view`), whatever the length of the run.
    """

    def __init__(self, *, keep_repeats: bool = False) -> None:
        self.keep_repeats = keep_repeats
        self._kept = Columns()
        self._index: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        """Which finite point each kept one is, from the start."""
        self._finite = 0
        self._odd = Columns()
        self._newest = Columns()
        self._tally = Tally(0, 0, NAN, NAN, NAN, NAN, NAN, NAN)

    def __len__(self) -> int:
        return self._tally.total + self._newest.step.size

    @property
    def last_step(self) -> float:
        """Position of the newest point, minus infinity where there is none."""
        return float(self._newest.step[-1]) if self._newest.step.size else float("-inf")

    def extend(self, new: Columns) -> None:
        """Append points whose steps do not decrease; of several at one step the last counts, unless repeats are kept.

        A batch that begins before the newest point was resumed: what it overlaps is dropped first.
        """
        if not new.step.size:
            return
        if float(new.step[0]) < self.last_step:
            self.cut(float(new.step[0]))
        rows = self._newest.then(new)
        if not self.keep_repeats and rows.step.size > 1:
            rows = rows.where(np.append(rows.step[1:] > rows.step[:-1], True))
        self._commit(rows.where(slice(0, -1)))
        self._newest = rows.where(slice(rows.step.size - 1, None))

    def cut(self, step: float) -> None:
        """Drop the points at `step` and later; extremes are then those of the points still kept."""
        if self._newest.step.size and self._newest.step[0] >= step:
            self._newest = Columns()
        stay, odd = self._kept.step < step, self._odd.step < step
        self._kept, self._index = self._kept.where(stay), self._index[stay]
        self._finite = int(self._index[-1]) + 1 if self._index.size else 0
        lost = int(np.count_nonzero(~odd))
        self._odd = self._odd.where(odd)
        bad = max(self._tally.nonfinite - lost, self._odd.step.size)
        nothing = Tally(0, 0, NAN, NAN, NAN, NAN, NAN, NAN)
        counted = _counted(
            nothing, self._kept.then(self._odd), np.isfinite(np.append(self._kept.value, self._odd.value))
        )
        total = self._finite + bad
        self._tally = Tally(total, bad, *list(vars(counted).values())[2:])
        if not self._newest.step.size:
            self._hold_back()

    def curve(self) -> tuple[Curve, Tally]:
        """Return the points kept, in order, and the exact tally of all."""
        total = self._finite + int(np.count_nonzero(np.isfinite(self._newest.value)))
        kept = self._kept.where(kept_of(self._index, total))
        everything = kept.then(self._odd).then(self._newest)
        order = np.argsort(everything.step, kind="stable")
        wall = everything.wall[order] if np.isfinite(everything.wall).any() else None
        tally = _counted(self._tally, self._newest, np.isfinite(self._newest.value))
        return Curve(everything.step[order], everything.value[order], wall), tally

    def _hold_back(self) -> None:
        """Make the last finite point the newest again after a cut."""
        if self._kept.step.size:
            last = self._kept.where(slice(self._kept.step.size - 1, None))
            self._kept, self._index = self._kept.where(slice(0, -1)), self._index[:-1]
            self._finite -= 1
            self._tally = Tally(self._tally.total - 1, *list(vars(self._tally).values())[1:])
            self._newest = last

    def _commit(self, rows: Columns) -> None:
        if not rows.step.size:
            return
        finite = np.isfinite(rows.value)
        self._tally = _counted(self._tally, rows, finite)
        if not finite.all():
            odd = self._odd.then(rows.where(~finite))
            if odd.step.size > 2 * ODD:
                keep = np.arange(odd.step.size)
                odd = odd.where((keep < ODD) | (keep >= odd.step.size - ODD))
            self._odd = odd
            rows = rows.where(finite)
        fresh = np.arange(self._finite, self._finite + rows.step.size)
        self._kept, self._index = self._kept.then(rows), np.append(self._index, fresh)
        self._finite += rows.step.size
        # The newest point is not counted here yet may be the next finite one: keep what either length would keep.
        wanted = kept_of(self._index, self._finite) | kept_of(self._index, self._finite + 1)
        if not wanted.all():
            self._kept, self._index = self._kept.where(wanted), self._index[wanted]


def kept_of(index: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Return which of the finite points `index` [m] a view of `n` finite points keeps (see `firstbreak.view`)."""
    if n <= HEAD + MIDDLE + TAIL:
        return np.ones(index.size, dtype=bool)
    stride = 1 << int(np.ceil(np.log2((n - HEAD - TAIL) / MIDDLE)))
    return (index < HEAD) | (index >= n - TAIL) | (index % stride == 0)


def _counted(tally: Tally, rows: Columns, finite: NDArray[np.bool_]) -> Tally:
    """Return `tally` with `rows` counted in; of equal extremes the first counts."""
    if not rows.step.size:
        return tally
    bad = int(rows.value.size - np.count_nonzero(finite))
    first_bad, first_inf = tally.first_nonfinite, tally.first_inf
    if bad:
        first_bad = float(rows.step[int(np.argmin(finite))]) if np.isnan(first_bad) else first_bad
        infinite = np.isinf(rows.value)
        if infinite.any() and np.isnan(first_inf):
            first_inf = float(rows.step[int(np.argmax(infinite))])
    top, top_at, low, low_at = tally.max, tally.max_at, tally.min, tally.min_at
    if bad < rows.value.size:
        step, value = rows.step[finite], rows.value[finite]
        i, j = int(np.argmax(value)), int(np.argmin(value))
        if not top >= value[i]:
            top, top_at = float(value[i]), float(step[i])
        if not low <= value[j]:
            low, low_at = float(value[j]), float(step[j])
    total = tally.total + int(rows.value.size)
    return Tally(total, tally.nonfinite + bad, first_bad, first_inf, top, top_at, low, low_at)
