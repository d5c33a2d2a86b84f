"""Whether rows that should be drawn from all of a buffer alike are: by their places in it, and by their age.

The largest distance d of the shares of n draws from a uniform distribution (Kolmogorov 1933) exceeds any d by a chance
of at most 2 exp(-2 n d^2), whatever n is (Dvoretzky, Kiefer and Wolfowitz 1956, doi:10.1214/aoms/1177728174, with the
constant of Massart 1990, doi:10.1214/aop/1176990746). Draws without replacement stay nearer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...series import Floats

METRIC = "replay/draws_uneven_nats"
WINDOWS = (64, 256, 1024)
"""Newest draws that are held against chance together. Engineering choice: a buffer of which a half is left out shows in
the least of them, one of which a tenth is in the most."""
LEAST_HELD = 64
"""Rows that the buffer holds at least: with fewer, a share is one of few numbers. Engineering choice."""
CALM, CALM_NATS = 256, 8.0
"""Draws that come to no more than so many nats before anything is said: who prefers some rows by design does so from
the first draw on. Engineering choices: chance comes to them within so many in 1 of 1,000 trainings."""


class UniformDraws:
    """Keeps the newest draws of one buffer."""

    def __init__(self) -> None:
        self._shares: Floats = np.zeros((2, 0))
        """By place, and from oldest to newest: a ring that is full begins somewhere."""
        self._seen = 0
        self.known = True
        """Whether draws are uniform at first; if not, nothing is said of them at all."""

    def add(self, places: NDArray[Any], position: int, held: int) -> None:
        """Take the places [N] of one draw from a ring that holds `held` rows, where `position` is written next."""
        if not self.known or held < LEAST_HELD or not places.size:
            return
        flat = places.reshape(-1)
        shares = (np.stack([flat, (flat - position) % held]) + 0.5) / held
        self._shares = np.concatenate([self._shares, shares], axis=1)[:, -WINDOWS[-1] :]
        self._seen += flat.size
        if self._seen <= CALM:
            self.known = nats(self._shares) <= CALM_NATS

    def take(self) -> dict[str, float]:
        """Return the most nats of all windows; nothing where too little was drawn, or never uniformly."""
        if not self.known or self._seen <= CALM:
            return {}
        return {METRIC: max(nats(self._shares[:, -window:]) for window in WINDOWS)}


def nats(shares: Floats) -> float:
    """Return how improbable it is that shares [N] are so far from uniform, at least, as a negative logarithm.

    Of several kinds of them [K, N], those that are furthest.

    >>> round(nats(np.full(10, 0.5)), 2), nats(np.arange(0.05, 1, 0.1))
    (4.31, 0.0)
    """
    count = int(shares.shape[-1])
    ordered, steps = np.sort(shares), np.arange(count + 1) / count
    far = max(float((steps[1:] - ordered).max()), float((ordered - steps[:-1]).max()))
    return max(0.0, 2 * count * far * far - math.log(2))
