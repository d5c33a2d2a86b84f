"""Whether what should be draws of a standard normal is: noise on actions, or actions of a policy, each standardised.

A draw falls into one of eight cells that are equally likely, the outermost of which are divided once more. Four other
ways to fall, wider, narrower, to either side, are each held against that by Page's cumulative sum of log-likelihood
ratios (1954, Biometrika 41): it grows while draws are more like the other way, and is at least 0. Chance takes
exp(nats) draws in the mean to come to so many nats (Lorden 1971, doi:10.1214/aoms/1177693055). Draws that are cut off
at a bound stay in the outermost cells on their side, wherever the bound lies within these; others are left out before
they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..series import Floats

EIGHTHS = (-1.15034938, -0.67448975, -0.31863936, 0.0, 0.31863936, 0.67448975, 1.15034938)
FAR = (3.0, 4.5)
"""Where the outermost eighths are divided: chance draws beyond the first once in 370 times, beyond the second once in
147,000. Engineering choices."""
EDGES = np.array([*(-far for far in FAR[::-1]), *EIGHTHS, *FAR])
"""Between the cells."""
ROOM = EIGHTHS[-1]
"""Standard deviations from the mean beyond which a bound must lie."""
LIKELY = np.diff([0.0, *(0.5 * math.erfc(-edge / math.sqrt(2)) for edge in EDGES), 1.0])
"""How probable each cell is."""
HEAVY = (0.25, 0.08, 0.02)
"""What another way that falls far draws in the cells of an outermost eighth, from the inside. Engineering choices, as
those of `WAYS`."""


def _way(eighths: Sequence[float]) -> Floats:
    """The log-likelihood ratios [cells] of another way, from how often it falls into each eighth [8]."""
    outer = len(FAR) + 1
    first, last = eighths[0], eighths[-1]
    tails = [
        HEAVY if share > 1 / 8 else tuple(share * 8 * chance for chance in LIKELY[-outer:]) for share in (first, last)
    ]
    return np.log(np.array([*tails[0][::-1], *eighths[1:-1], *tails[1]]) / LIKELY)


WAYS = np.array(
    [
        _way([0.35, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.35]),
        _way([1 / 30, 1 / 30, 1 / 30, 0.4, 0.4, 1 / 30, 1 / 30, 1 / 30]),
        _way([0.35, 0.35, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05]),
        _way([0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.35, 0.35]),
    ]
)
"""The other ways: twice as wide, a third as wide, a standard deviation off to the left and to the right."""
CERTAIN = 24.0
"""Nats that are told at once: chance takes 26 billion draws to come to them."""
NEAR = 6.0
"""Nats from which on every draw is worth a look. Engineering choice."""
CALM, CALM_NATS = 64, 10.0
"""Draws that come to no more than so many nats before anything is said: who explores in a way of its own, by design,
does so from the first draw on. Engineering choices: chance comes to them within so many in 1 of 100 trainings."""
AT_ONCE = 2
"""Rows that are told at once from one `take` to the next. Engineering choice."""


class NormalDraws:
    """Counts standardised draws of several dimensions, each by itself."""

    def __init__(self) -> None:
        self._sums: NDArray[Any] | None = None
        self._seen = self._told = 0
        self._most: float | None = None
        self.known = True
        """Whether draws are as they should be at first; if not, nothing is said of them at all."""

    @property
    def near(self) -> bool:
        """Whether the newest draws are so unlike that none should be passed over."""
        return self._sums is not None and bool(self._sums.max() >= NEAR)

    def add(self, z: Floats, low: Floats, high: Floats) -> float | None:
        """Take the draws of one step; return the nats that are to be told at once, if any.

        Args:
            z: Draws less their mean over their spread [D], cut off at the bounds.
            low: The lower bound, in the same unit [D].
            high: The upper one [D].
        """
        inside = np.isfinite(z) & (low <= -ROOM) & (high > ROOM)
        if not self.known or not inside.any():
            return None
        gains = np.where(inside, WAYS[:, cast(Any, np).searchsorted(EDGES, np.where(inside, z, 0.0))], 0.0)
        before = np.zeros_like(gains) if self._sums is None or self._sums.shape != gains.shape else self._sums
        self._sums = np.maximum(before + gains, 0.0)
        self._seen += 1
        now = float(self._sums.max())
        if self._seen <= CALM:
            self.known = now <= CALM_NATS
            return None
        self._most = now if self._most is None else max(self._most, now)
        if now < CERTAIN or self._told >= AT_ONCE:
            return None
        self._told += 1
        return now

    def take(self) -> float | None:
        """Return the most nats since the last call; None where nothing was counted."""
        most, self._most, self._told = self._most, None, 0
        return most
