"""Least and greatest value of each dimension of a stream, and how often either is met."""

from __future__ import annotations

import numpy as np

from .trajectory import Floats


class Ranges:
    """Running bounds of entries [T, dimensions] that come in pieces."""

    def __init__(self, dimensions: int) -> None:
        """Start without any entry."""
        self.low = np.full(dimensions, np.inf)
        self.high = np.full(dimensions, -np.inf)
        self.at_low = np.zeros(dimensions, np.int64)
        self.at_high = np.zeros(dimensions, np.int64)
        self.entries = 0

    def add(self, values: Floats) -> None:
        """Take in entries [T, dimensions]; rows with a number that is not finite are left out."""
        values = values[np.isfinite(values).all(axis=1)]
        if not len(values):
            return
        low, high = values.min(axis=0), values.max(axis=0)
        self.at_low = np.where(low < self.low, 0, self.at_low) + (values == np.minimum(low, self.low)).sum(axis=0)
        self.at_high = np.where(high > self.high, 0, self.at_high) + (values == np.maximum(high, self.high)).sum(axis=0)
        self.low, self.high = np.minimum(low, self.low), np.maximum(high, self.high)
        self.entries += len(values)

    @property
    def dead(self) -> tuple[int, ...]:
        """Dimensions with one value only, of at least two entries."""
        return tuple(int(i) for i in np.flatnonzero(self.low == self.high)) if self.entries > 1 else ()

    @property
    def at_bound_frac(self) -> float:
        """Share of the entries of living dimensions that equal a bound; NaN where no dimension lives."""
        alive = self.low < self.high
        met = (self.at_low + self.at_high)[alive]
        return float(met.sum() / (met.size * self.entries)) if met.size and self.entries else float("nan")
