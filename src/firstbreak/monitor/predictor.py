"""How well the steps of a row follow from what was learned of the rows before, by a linear model that forgets."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MEMORY = 0.98
"""What of the earlier rows counts at the next: some fifty rows. Engineering choice: long enough that what a policy
visits again is still known, short enough that an environment that drifts is followed."""
RIDGE = 1e-6
"""Share of each input's own size that holds its slope down: inputs that never varied get none."""
LEAST_UNEXPLAINED = 0.05
"""Share of a target's spread that counts as usual even where it is predicted better: rounding and rare contacts."""
USUAL = 0.9
"""What of the usual error stays with every row."""
LEAST_ADDED = 1e-4
"""Variance, in those of the targets, that inputs must add for a change of it to be asked for: a hundredth of a spread.
Engineering choice."""
QUANTILE = 0.75
"""A change of the environment touches most steps."""
MOST_INPUTS = 72
"""Larger models would cost more than a step of the environment: from about a hundred inputs on, linear algebra is
spread over threads, which on a busy machine made one row wait 100 ms instead of 0.1. Engineering choice."""


class Predictor:
    """Ridge regression of targets [m, K] on inputs [m, P], fed row by row.

    Source: recursive least squares with exponential forgetting (Ljung 1999, "System Identification", section 11.2).
    """

    def __init__(self, inputs: int, targets: int) -> None:
        self.weight = 0.0
        self._xx = np.zeros((inputs + 1, inputs + 1))
        self._xy = np.zeros((inputs + 1, targets))
        self._square = np.zeros(targets)
        self._sum = np.zeros(targets)
        self._usual = float("nan")
        self.missed: Floats | None = None
        """Mean squared error of the last row [K]; None where nothing could be said."""

    def surprise(self, x: Floats, y: Floats) -> float | None:
        """Return the error on one row against the usual one, then learn the row; None where nothing can be said.

        The error of a step is the root mean square over targets, each in units of its own spread so far; that of a row
        is its upper quartile over steps, so that rare events (a contact, a goal) do not count; 1 is as usual. A row
        that is not finite is passed over.
        """
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            return None
        inputs = np.concatenate([np.ones((len(x), 1)), x], axis=1)
        found = self._compared(inputs, y)
        self._learn(inputs, y)
        return found

    def _compared(self, inputs: Floats, y: Floats) -> float | None:
        self.missed = None
        if self.weight < 2 * self._xx.shape[0]:
            return None
        mean = self._sum / self.weight
        spread = np.sqrt(np.maximum(self._square / self.weight - mean * mean, 0.0))
        size = np.maximum(spread, 1e-9 + 1e-3 * np.abs(mean))  # what never varied has a size, too
        error = y - inputs @ self._slopes()
        self.missed = np.mean(error * error, axis=0)
        error = error / size
        now = float(np.quantile(np.sqrt(np.mean(error * error, axis=1)), QUANTILE))
        usual = self._usual
        if not np.isfinite(usual):
            self._usual = max(now, LEAST_UNEXPLAINED)
            return None
        self._usual = USUAL * usual + (1 - USUAL) * min(now, 3 * usual)  # one odd row must not make itself the usual
        return now / max(usual, LEAST_UNEXPLAINED)

    def gain(self, x: Floats, y: Floats, places: slice) -> float | None:
        """Return how many times as much some inputs do in one row as they did before; None where nothing can be said.

        The slope, through 0, of what the other inputs leave of the targets on what these add to the prediction, both
        from their means, each target in units of its own spread: 1 is as before, -1 the opposite. Ask it before
        `surprise`, which learns the row.

        Args:
            x: Inputs [m, P].
            y: Targets [m, K].
            places: The inputs that are asked for.
        """
        if self.weight < 2 * self._xx.shape[0] or not (np.isfinite(x).all() and np.isfinite(y).all()):
            return None
        slopes, mean = self._slopes(), self._sum / self.weight
        spread = np.sqrt(np.maximum(self._square / self.weight - mean * mean, 0.0))
        moves = spread > 1e-9 + 1e-3 * np.abs(mean)
        if not moves.any():
            return None
        added = (x[:, places] - x[:, places].mean(0)) @ slopes[1:][places]
        missed = y - slopes[0] - x @ slopes[1:]
        unit = np.where(moves, spread, 1.0)
        added, left = (added / unit)[:, moves], (missed / unit)[:, moves]
        size = float((added * added).mean())
        return 1 + float((left * added).mean()) / size if size > LEAST_ADDED else None

    def input_variance(self) -> Floats:
        """Variance of each input [P] over what is remembered."""
        mean = self._xx[0, 1:] / self.weight
        return np.maximum(np.diag(self._xx)[1:] / self.weight - mean * mean, 0.0)

    def _slopes(self) -> Floats:
        held = np.diag(RIDGE * np.diag(self._xx) + 1e-12 * self.weight)
        return cast(Floats, np.linalg.solve(self._xx + held, self._xy))

    def _learn(self, inputs: Floats, y: Floats) -> None:
        self.weight = MEMORY * self.weight + len(y)
        self._xx = MEMORY * self._xx + inputs.T @ inputs
        self._xy = MEMORY * self._xy + inputs.T @ y
        self._square = MEMORY * self._square + (y * y).sum(0)
        self._sum = MEMORY * self._sum + y.sum(0)
