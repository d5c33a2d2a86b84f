"""What became of a table of numbers on its way: the scale and offset of each entry, and how far they moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .columns import finite, mean
from .transitions import TINY, Floats

MOVES = 0.1
"""Share of its variance so far that an entry must have in a row for that row to say whether it follows. Engineering
choice: a flag that one step of 64 sets says nothing."""
MEMORY = 0.9
"""What of the spread so far stays with every row. Engineering choice, as in `world`."""
EXACT = 0.99
"""Share of the variance from which on nobody asks whether a cut-off explains the rest."""
ROUNDING = 1e-4
"""Spread, as a share of the size of the numbers, that is taken for rounding: they are stored in single precision."""


class Map:
    """The scale and offset, entry by entry, by which one table [n, D] became another, and how far they moved.

    An entry that followed exactly once and does not in a row (it hardly varies, while a normaliser moves on) has no map
    after that row: one fitted to it would say of the next that it is far off.

    Attributes:
        worst: What `take` last found of the entry that follows least: its share of the variance, of those that followed
            exactly in a row before and move in `given` about as usual; None where there is none.

    Args:
        moves: Whether scale and offset may move along straight lines within a row, as those of a normaliser do that
            has one copy alone to learn from, and is shown what it hardly knows.
    """

    def __init__(self, *, moves: bool = False) -> None:
        self._moves = moves
        self._usual: tuple[Floats, Floats, NDArray[np.bool_]] | None = None
        """Slope, offset and whether they are known, each [D]."""
        self._exact: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        """Which entries followed exactly in some row [D]."""
        self._spread: Floats | None = None
        """Variance of what is found so far [D]."""
        self._wander: Floats | None = None
        """Variance of what is given so far [D]."""
        self.worst: float | None = None

    def take(self, given: Floats, found: Floats) -> tuple[float | None, float | None]:
        """Return the share of the variance of `found` that follows from `given`, and how far off the last map is.

        The first is the mean over entries that vary in either, but for those that stand still in `given` and move in
        `found` by less than a hundredth of their variance so far: a normaliser that moves on. The second is the root
        mean square over those whose map is known, in standard deviations of `found` now or so far, whichever are
        larger: what stands still for a while is no measure of distance. Of an entry that moves less than usual, and of
        the worst, scale and offset may move within the row: nothing else makes up for a normaliser that moves on.
        """
        self.worst = None
        if given.shape != found.shape or not (np.isfinite(given).all() and np.isfinite(found).all()):
            return None, None
        moves, shown = varied(given), varied(found)
        both = moves & shown
        off, away = given - given.mean(0), found - found.mean(0)
        together, square, spread = (off * away).mean(0), (off * off).mean(0), (away * away).mean(0)
        slope = together / np.maximum(square, TINY * TINY)
        fit = slope * together / np.maximum(spread, TINY * TINY)
        follows = fit >= EXACT
        fit, lively = np.where(both, fit, 0.0), self._lively(square)
        fit = _better(ordered, given, found, fit, both)
        fit = _better(moving, given, found, fit, both & (self._moves | ~lively))
        if self._exact.size == fit.size and (asked := lively & self._exact).any():
            self.worst = float(_better(moving, given, found, fit, both & asked & (not self._moves))[asked].min())
        offset = found.mean(0) - slope * given.mean(0)
        before = spread if self._spread is None or self._spread.size != spread.size else self._spread
        usual = self._usual
        if usual is None or usual[0].size != slope.size:
            usual, shift, self._exact = (slope, offset, both), None, follows & both
        else:
            shift = _apart(usual, given, found, shown, np.maximum(spread, before))
        either = moves | (shown & (spread > (1 - EXACT) * before))
        self._spread = MEMORY * before + (1 - MEMORY) * spread
        lost = both & self._exact & ~follows
        self._exact = self._exact | (both & follows)
        mapped = np.where(both, np.array([slope, offset]), np.array(usual[:2]))
        self._usual = mapped[0], mapped[1], (both | usual[2]) & ~lost
        return (float(fit[either].mean()) if either.any() else None), shift

    def _lively(self, square: Floats) -> NDArray[np.bool_]:
        """Return which entries [D] of what is given, with variances `square` [D] now, move as usual; remember those."""
        before = square if self._wander is None or self._wander.size != square.size else self._wander
        self._wander = MEMORY * before + (1 - MEMORY) * square
        return square > MOVES * before

    def apart(self, given: Floats, found: Floats) -> tuple[float | None, float | None]:
        """Return what `take` would, but for cut-offs, and follow nothing."""
        usual, before = self._usual, self._spread
        if usual is None or before is None or given.shape != found.shape or given.shape[1] != before.size:
            return None, None
        if not finite(given, found):
            return None, None
        off, away = given - mean(given), found - mean(found)
        together, square, spread = mean(off * away), mean(off * off), mean(away * away)
        both = _above_rounding(given, square) & _above_rounding(found, spread) & usual[2]
        if not both.any():
            return None, None
        fit: Floats = together[both] ** 2 / (square * spread)[both]
        return float(fit.mean()), _apart(usual, given, found, both, np.maximum(spread, before))


def _better(
    how: Callable[[Floats, Floats], float], given: Floats, found: Floats, fit: Floats, asked: NDArray[np.bool_]
) -> Floats:
    """Return `fit` [D], or what follows by another kind of map where that is more, of what is asked [D]."""
    places = np.flatnonzero(asked & (fit < EXACT))
    fit = fit.copy()
    fit[places] = [max(float(fit[place]), how(given[:, place], found[:, place])) for place in places]
    return fit


def _apart(
    usual: tuple[Floats, Floats, NDArray[np.bool_]],
    given: Floats,
    found: Floats,
    shown: NDArray[np.bool_],
    variance: Floats,
) -> float | None:
    slope, offset, known = usual
    places = known & shown
    if not places.any():
        return None
    error = (offset + slope * given - found)[:, places]
    shares: Floats = (error * error).mean(0) / variance[places]
    return float(shares.mean()) ** 0.5


def ordered(given: Floats, found: Floats) -> float:
    """Return the share of the variance of `found` [n] that follows from `given` [n] by the best rising function.

    A cut-off at a bound is one: what it takes away is no mistake. By pooling neighbours that are out of order (Barlow
    et al. 1972, "Statistical Inference under Order Restrictions", section 1.2).
    """
    _, place = np.unique(given, return_inverse=True)
    count = np.bincount(place).astype(np.float64)
    levels: list[tuple[float, float]] = []  # mean, number
    for level in zip((np.bincount(place, found) / count).tolist(), count.tolist(), strict=True):
        levels.append(level)
        while len(levels) > 1 and levels[-2][0] > levels[-1][0]:
            (one, few), (other, more) = levels.pop(), levels.pop()
            levels.append(((one * few + other * more) / (few + more), few + more))
    middle = float(found.mean())
    fitted = sum(number * (mean - middle) ** 2 for mean, number in levels)
    return fitted / (found.size * float(found.var()))


def moving(given: Floats, found: Floats) -> float:
    """Return the share of the variance of `found` [n] that follows from `given` [n] by a scale and an offset which move
    along straight lines in time; by least squares."""
    time = np.linspace(-1, 1, len(given))
    off, away = given - given.mean(), found - found.mean()
    parts = np.stack([np.ones_like(time), time, off, off * time], axis=1)
    missed = away - parts @ cast(Floats, np.linalg.lstsq(parts, away, rcond=None)[0])
    return 1 - float(missed @ missed) / float(away @ away)


def varied(table: Floats) -> NDArray[np.bool_]:
    """Return which columns [D] of a table [n, D] vary by more than rounding."""
    off = table - mean(table)
    return _above_rounding(table, mean(off * off))


def _above_rounding(table: Floats, variance: Floats) -> NDArray[np.bool_]:
    """Say the same where the variance [D] of the columns is known."""
    return np.sqrt(variance) > np.maximum(TINY, ROUNDING * np.sqrt(mean(table * table)))
