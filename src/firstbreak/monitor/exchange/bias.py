"""Whether what follows lies to one side of what was foreseen: a load, a slope, a friction that is another one now.

A constant that changes a little moves every step by a little: no step is missed by much, so that no quartile of errors
shows it, and yet the mean of a row's errors, which differ in sign as long as the world is the same, tells it at once.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from .columns import finite, mean
from .predictor import REACH

if TYPE_CHECKING:
    from .predictor import Predictor
    from .transitions import Floats

METRIC = "env/dynamics_bias"
KNOWN = 16
"""Rows before whose means must be known. Engineering choice, as in `early`."""
LAG = 2
"""Rows before that say nothing yet of what is usual: two on end are held against the same ones."""
LEAST = 0.01
"""Share of the spread of an entry's changes that its mean error is taken to have come to. Engineering choice."""
ASKED = 1.5
"""Times the largest mean before, from which on it is asked whether the model knows where it is, which costs more."""


class Bias:
    """The mean error of each entry of what follows, row by row, against the largest that it ever was."""

    def __init__(self, width: int) -> None:
        self._rows = 0
        self._most = np.zeros(width)
        self._newest = deque[np.ndarray[tuple[int], np.dtype[np.float64]]]()

    def row(self, model: Predictor, inputs: Floats, change: Floats) -> dict[str, float]:
        """Return how many times its largest earlier mean the mean error of an entry is, of the entry where it is most.

        Of steps where the model never was (`Predictor.leverage`) nothing is said: where a world is not linear, errors
        there have a sign. Ask it before `Predictor.surprise`, which learns the row.
        """
        if not model.knows or not finite(inputs, change):
            return {}
        error = (change - model.says(inputs)) / model.sizes
        off = np.abs(mean(error))
        if self._rows >= KNOWN and self._ratio(off) > ASKED:
            near = model.leverage(inputs) <= REACH
            if 2 * np.count_nonzero(near) < len(near):
                return {}
            off = np.abs(mean(error[near]))
        found = {METRIC: self._ratio(off)} if self._rows >= KNOWN else {}
        self._count(off)
        return found

    def _ratio(self, off: Floats) -> float:
        return float((off / np.maximum(self._most, LEAST)).max())

    def _count(self, off: Floats) -> None:
        self._newest.append(off)
        if len(self._newest) > LAG:
            self._rows += 1
            self._most = np.maximum(self._most, self._newest.popleft())
