"""One metric in bounded memory: exactly the points that a view of the whole prefix would keep, and exact extremes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from ..series import Curve, Floats, Tally
from ..view import HEAD, MIDDLE, TAIL

ODD = 32
"""Non-finite points kept from the start, and as many from the end. Engineering choice."""
NAN = float("nan")
BUDGET = HEAD + MIDDLE + TAIL
"""Points up to which all are kept."""


def _none() -> Floats:
    return np.empty((4, 0))


@dataclass
class Columns:
    """Points in order, in one table [4, n]: `step`, `value`, `wall`, and which finite point each is, from the start.

    One table, so that a row is added or left out in one move of memory, not in four.
    """

    table: Floats = field(default_factory=_none)

    @staticmethod
    def of(step: Floats, value: Floats, wall: Floats) -> Columns:
        """Return points that are not counted yet."""
        table = np.zeros((4, step.size))
        table[0], table[1], table[2] = step, value, wall
        return Columns(table)

    def __len__(self) -> int:
        return self.table.shape[1]

    @property
    def step(self) -> Floats:
        """Where the points are, on the run's clock [n]."""
        return self.table[0]

    @property
    def value(self) -> Floats:
        """The numbers [n]."""
        return self.table[1]

    @property
    def wall(self) -> Floats:
        """Seconds since the epoch [n], NaN where not known."""
        return self.table[2]

    @property
    def index(self) -> Floats:
        """Which finite point each is [n]; of points that are kept only."""
        return self.table[3]

    def where(self, which: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Columns:
        """Return the points at `which`."""
        return Columns(self.table[:, which])

    def then(self, other: Columns) -> Columns:
        """Return these points followed by those of `other`."""
        return Columns(np.concatenate((self.table, other.table), axis=1))


class Track:
    """A growing series. The newest point is held back, since a later one at its step would replace it.

    Memory is bounded by the budget of a view (`firstbreak.view`), whatever the length of the run.
    """

    def __init__(self, *, keep_repeats: bool = False) -> None:
        self.keep_repeats = keep_repeats
        self._kept = Columns()
        self._finite = 0
        self._odd = Columns()
        self._newest = Columns()
        self._tally = Tally(0, 0, NAN, NAN, NAN, NAN, NAN, NAN)
        self.proven = 0
        """Finite points on end that it began with before a roll-back; see `Series.proven`."""
        self.changes = 0
        """Grows with every change: what was made of the points may have to be made anew."""

    def __len__(self) -> int:
        return self._tally.total + len(self._newest)

    @property
    def last_step(self) -> float:
        """Position of the newest point, minus infinity where there is none."""
        return self._newest.table.item(0, -1) if len(self._newest) else float("-inf")

    def extend(self, new: Columns, *, rises: bool = False) -> None:
        """Append points whose steps do not decrease; of several at one step the last counts, unless repeats are kept.

        A batch that begins before the newest point was resumed: what it overlaps is dropped first. `rises` says that no
        two points are at one step.
        """
        if not len(new):
            return
        self.changes += 1
        first, last = new.table.item(0, 0), self.last_step
        if first < last:
            self.cut(first)
        held = self._newest
        if len(held) == 1 and first > last and isfinite(held.table.item(1, 0)):
            if len(new) == 1:
                self._commit_one(held)  # how nearly all points come where every row is looked at
                self._newest = new
                return
            if rises and isfinite(new.value[:-1].sum()):
                self._commit_many(held.then(new))
                return
        rows = self._newest.then(new)
        if not self.keep_repeats and len(rows) > 1:
            rows = rows.where(np.append(rows.step[1:] > rows.step[:-1], True))
        self._commit(rows.where(slice(0, -1)))
        self._newest = rows.where(slice(len(rows) - 1, None))

    def cut(self, step: float) -> None:
        """Drop the points at `step` and later; extremes are then those of the points still kept."""
        self.changes += 1
        if len(self._newest) and self._newest.step[0] >= step:
            self._newest = Columns()
        stay, odd = self._kept.step < step, self._odd.step < step
        self._kept = self._kept.where(stay)
        self._finite = int(self._kept.index[-1]) + 1 if len(self._kept) else 0
        lost = int(np.count_nonzero(~odd))
        self._odd = self._odd.where(odd)
        bad = max(self._tally.nonfinite - lost, len(self._odd))
        nothing = Tally(0, 0, NAN, NAN, NAN, NAN, NAN, NAN)
        counted = _counted(
            nothing, self._kept.then(self._odd), np.isfinite(np.append(self._kept.value, self._odd.value))
        )
        total = self._finite + bad
        self._tally = Tally(total, bad, *list(vars(counted).values())[2:])
        if not len(self._newest):
            self._hold_back()

    def undo(self, step: float) -> None:
        """Drop the points after `step`, and remember that there were some."""
        curve, tally = self.curve()
        begun = tally.total if not tally.nonfinite else int(np.sum(curve.step < tally.first_nonfinite))
        self.proven = max(self.proven, begun)
        self.cut(float(np.nextafter(step, np.inf)))

    def curve(self) -> tuple[Curve, Tally]:
        """Return the points kept, in order, and the exact tally of all."""
        newest = self._newest
        lone = len(newest) == 1 and isfinite(newest.table.item(1, 0))  # as nearly always
        finite = np.isfinite(newest.value) if not lone else np.array([True])
        total = self._finite + (1 if lone else int(np.count_nonzero(finite)))
        kept = self._kept if total <= BUDGET else self._kept.where(kept_of(self._kept.index, total))
        if len(self._odd):
            kept = kept.then(self._odd)
            kept = kept.where(np.argsort(kept.step, kind="stable"))
        everything = kept.then(newest)  # nothing is later than the newest
        everything.table.flags.writeable = False  # a curve need not copy it
        timed = len(everything) > 0 and isfinite(everything.table.item(2, -1))
        wall = everything.wall if timed or np.isfinite(everything.wall).any() else None
        tally = _with_one(self._tally, newest) if lone else _counted(self._tally, newest, finite)
        return Curve(everything.step, everything.value, wall), tally

    def _hold_back(self) -> None:
        """Make the last finite point the newest again after a cut."""
        if len(self._kept):
            last = len(self._kept) - 1
            self._kept, self._newest = self._kept.where(slice(0, last)), self._kept.where(slice(last, None))
            self._finite -= 1
            self._tally = Tally(self._tally.total - 1, *list(vars(self._tally).values())[1:])

    def _commit(self, rows: Columns) -> None:
        if not len(rows):
            return
        finite = np.isfinite(rows.value)
        self._tally = _counted(self._tally, rows, finite)
        if not finite.all():
            odd = self._odd.then(rows.where(~finite))
            if len(odd) > 2 * ODD:
                keep = np.arange(len(odd))
                odd = odd.where((keep < ODD) | (keep >= len(odd) - ODD))
            self._odd = odd
            rows = rows.where(finite)
        self._keep(rows)

    def _commit_one(self, point: Columns) -> None:
        """Do what `_commit` does for one point that is finite."""
        self._tally = _with_one(self._tally, point)
        self._keep(point)

    def _commit_many(self, points: Columns) -> None:
        """Do what `extend` does with points that rise, the newest so far the first of them, all finite but the last."""
        last = len(points) - 1
        rows = Columns(points.table[:, :last])
        value = rows.value
        i, j = int(value.argmax()), int(value.argmin())
        tally = _with_one(self._tally, Columns(rows.table[:, i : i + 1]))
        tally = _with_one(tally, Columns(rows.table[:, j : j + 1]))
        self._tally = replace(tally, total=self._tally.total + last)
        self._keep(rows)
        self._newest = Columns(points.table[:, last:].copy())

    def _keep(self, rows: Columns) -> None:
        """Add finite points that are counted, and drop what no view keeps any more."""
        rows.table[3] = self._finite if len(rows) == 1 else np.arange(self._finite, self._finite + len(rows))
        self._kept = self._kept.then(rows)
        self._finite += len(rows)
        if self._finite < BUDGET:
            return
        # The newest point is not counted here yet may be the next finite one: keep what either length would keep.
        wanted = kept_of(self._kept.index, self._finite) | kept_of(self._kept.index, self._finite + 1)
        if not wanted.all():
            self._kept = self._kept.where(wanted)


def kept_of(index: Floats, n: int) -> NDArray[np.bool_]:
    """Return which of the finite points `index` [m] a view of `n` finite points keeps (see `firstbreak.view`)."""
    if n <= BUDGET:
        return np.ones(index.size, dtype=bool)
    stride = 1 << int(np.ceil(np.log2((n - HEAD - TAIL) / MIDDLE)))
    return (index < HEAD) | (index >= n - TAIL) | (index % stride == 0)


def _with_one(tally: Tally, point: Columns) -> Tally:
    """Do what `_counted` does for one point that is finite."""
    step, value = point.table.item(0, 0), point.table.item(1, 0)
    top, top_at = (tally.max, tally.max_at) if tally.max >= value else (value, step)
    low, low_at = (tally.min, tally.min_at) if tally.min <= value else (value, step)
    bad = (tally.nonfinite, tally.first_nonfinite, tally.first_inf)
    return Tally(tally.total + 1, *bad, top, top_at, low, low_at)


def _counted(tally: Tally, rows: Columns, finite: NDArray[np.bool_]) -> Tally:
    """Return `tally` with `rows` counted in; of equal extremes the first counts."""
    if not len(rows):
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
