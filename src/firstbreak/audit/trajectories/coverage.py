"""How much of the state space episodes visit: cells that are really used, and the entropy of the states."""

from __future__ import annotations

import math

import numpy as np

from .trajectory import Floats

BINS = 12
"""Cells along each of the two main directions. Engineering default: 144 cells fill with a few hundred states."""
NEIGHBOUR = 3
"""Which nearest neighbour the entropy is estimated from. Engineering default; small, for little bias."""
_EULER = 0.5772156649015329
_CHUNK = 512


class Grid:
    """Cells over the two main directions of a set of states, the same for every subset that is compared on it."""

    def __init__(self, states: Floats, bins: int = BINS) -> None:
        """Lay the cells over `states` [N, features]; what never moves has no direction."""
        self.bins = bins
        finite = states[np.isfinite(states).all(axis=1)]
        self.centre = finite.mean(axis=0) if len(finite) else np.zeros(states.shape[1])
        spread = finite.std(axis=0) if len(finite) else np.zeros(states.shape[1])
        self.scale = np.where(spread > 1e-12, spread, np.inf)
        scaled = (finite - self.centre) / self.scale
        _, vectors = np.linalg.eigh(scaled.T @ scaled) if len(finite) else (None, np.zeros((states.shape[1], 0)))
        self.axes = np.asarray(vectors)[:, ::-1][:, :2]
        placed = scaled @ self.axes
        self.low = placed.min(axis=0) if len(finite) else np.zeros(self.axes.shape[1])
        width = (placed.max(axis=0) if len(finite) else self.low) - self.low
        self.width = np.where(width > 1e-9, width, 1.0)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.bins ** self.axes.shape[1]

    def counts(self, states: Floats) -> dict[int, int]:
        """Return cell -> states in it."""
        finite = states[np.isfinite(states).all(axis=1)]
        places = ((finite - self.centre) / self.scale) @ self.axes
        index = np.clip(((places - self.low) / self.width * self.bins).astype(np.int64), 0, self.bins - 1)
        flat = index @ (self.bins ** np.arange(index.shape[1], dtype=np.int64))
        cells, visits = np.unique(flat, return_counts=True)
        return dict(zip(cells.tolist(), visits.tolist(), strict=True))


def effective_number(counts: dict[int, int]) -> float:
    """Return the effective number of cells: the exponential of the entropy of the visits (Hill 1973, order 1)."""
    total = sum(counts.values())
    return math.exp(-sum(n / total * math.log(n / total) for n in counts.values() if n)) if total else 0.0


def entropy_nats(states: Floats, neighbour: int = NEIGHBOUR) -> float:
    """Return the entropy of the density of the states from the distances of neighbours (Kozachenko & Leonenko 1987).

    Args:
        states: [N, features]; equal ones count once, and features that never change are left out.
        neighbour: Which neighbour.

    Returns:
        In nats, of the states as they are scaled; NaN for fewer than `neighbour` + 2 unlike states.
    """
    unlike = np.unique(states[np.isfinite(states).all(axis=1)], axis=0)
    unlike = unlike[:, np.ptp(unlike, axis=0) > 0] if len(unlike) else unlike
    size, features = unlike.shape
    if size < neighbour + 2 or not features:
        return math.nan
    squares = np.einsum("ij,ij->i", unlike, unlike)
    logs = 0.0
    for start in range(0, size, _CHUNK):
        part = unlike[start : start + _CHUNK]
        near = squares[start : start + _CHUNK, None] + squares - 2.0 * part @ unlike.T
        chosen = np.argpartition(near, neighbour, axis=1)[:, : neighbour + 1]
        exact = np.sqrt(((unlike[chosen] - part[:, None, :]) ** 2).sum(axis=2))
        logs += float(np.log(np.maximum(exact.max(axis=1), 1e-300)).sum())
    ball = features / 2 * math.log(math.pi) - math.lgamma(features / 2 + 1)
    return _digamma(size) - _digamma(neighbour) + ball + features * logs / size


def _digamma(n: int) -> float:
    """Return the digamma function of a whole number."""
    return -_EULER + math.fsum(1.0 / j for j in range(1, n))
