"""Running mean and variance of observations, as scripts keep them."""

from __future__ import annotations

import numpy as np


class Running:
    """Mean and variance over all rows so far (Chan et al. 1979); applied with a cut at ten deviations."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean, self.var, self.count = np.zeros(shape), np.ones(shape), 1e-4

    def update(self, rows: np.ndarray) -> None:
        """Take in `rows` [n, ...]."""
        mean, var, n = rows.mean(0), rows.var(0), len(rows)
        total, apart = self.count + n, mean - self.mean
        self.var = (self.var * self.count + var * n + apart**2 * self.count * n / total) / total
        self.mean, self.count = self.mean + apart * n / total, total

    def apply(self, rows: np.ndarray) -> np.ndarray:
        return np.clip((rows - self.mean) / np.sqrt(self.var + 1e-8), -10, 10)
