"""How well the steps of a row follow from what was learned of the rows before, by a linear model that forgets."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .columns import finite, mean, quantile

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
USUAL_GAIN = 1.25
"""Gain, and one over it, up to which nobody asks whether the model knows where it is: that costs as much as the rest.
Healthy rows lie between 0.75 and 1.2 (as for `action-effect-resized`)."""
FAR_GAIN, MOST_FAR, FEW_FAR = 1.65, 16, 8
"""Where the gain has lain beyond the first, either way, in so many rows more than near 1 (`FEW_FAR`, counted up to
`MOST_FAR`), what actions do never was known: nothing is lost by going where the model never was, and no rule reads an
odd gain among others. `action-effect-resized` asks for 16 rows before it speaks; twice its limit, as a logarithm."""
REACH = 2.0
"""Leverage, 1 on average where the model learned, from which on a step is where it never was. Hoaglin and Welsch 1978,
"The hat matrix in regression and ANOVA" (twice the average). Unbroken TD3 and PPO came to 4 to 7 where the gain came to
-3.6 to 5.4; where actions were cut, held or crossed most steps were below 1.6 (2026-11-26)."""
MOST_INPUTS = 72
"""Larger models would cost more than a step of the environment: from about a hundred inputs on, linear algebra is
spread over threads, which on a busy machine made one row wait 100 ms instead of 0.1. Engineering choice."""
MOST_MISSED = 2.0
"""Times its variance that an entry may be missed by: contacts and resets must not drown the others."""
TINY = 1e-8
"""Spread below which nothing varies."""


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
        self._known: tuple[Floats, Floats, NDArray[np.bool_]] | None = None
        """What `_model` returns, as of the last row learned: it is asked for more often than rows come."""
        self._said: tuple[Floats, Floats] | None = None
        """The last inputs that it was asked of since it learned, and what it said."""
        self.missed: Floats | None = None
        """Mean squared error of the last row [K]; None where nothing could be said."""
        self.lost = False
        """Whether the gain of the last row was odd, and most of its steps where the model never was."""
        self._far = 0
        """Rows lately by which more had a gain far from 1 than near it, up to `MOST_FAR`."""

    def surprise(self, x: Floats, y: Floats) -> float | None:
        """Return the error on one row against the usual one, then learn the row; None where nothing can be said.

        The error of a step is the root mean square over targets, each in units of its own spread so far; that of a row
        is its upper quartile over steps, so that rare events (a contact, a goal) do not count; 1 is as usual. A row
        that is not finite is passed over.
        """
        if not finite(x, y):
            return None
        inputs = np.concatenate([np.ones((len(x), 1)), x], axis=1)
        found = self._compared(inputs, y)
        self._learn(inputs, y)
        return found

    def _compared(self, inputs: Floats, y: Floats) -> float | None:
        self.missed = None
        if not self.knows:
            return None
        slopes, size, _ = self._model()
        error = y - inputs @ slopes
        self.missed = mean(error * error)
        error = error / size
        each: Floats = np.sqrt(np.add.reduce(error * error, axis=1) / error.shape[1])
        now = quantile(each, QUANTILE)
        usual = self._usual
        if not math.isfinite(usual):
            self._usual = max(now, LEAST_UNEXPLAINED)
            return None
        self._usual = USUAL * usual + (1 - USUAL) * min(now, 3 * usual)  # one odd row must not make itself the usual
        return now / max(usual, LEAST_UNEXPLAINED)

    def gain(self, x: Floats, y: Floats, places: slice) -> float | None:
        """Return how many times as much some inputs do in one row as they did before; None where nothing can be said.

        The slope, through 0, of what the other inputs leave of the targets on what these add to the prediction, both
        from their means, each target in units of its own spread: 1 is as before, -1 the opposite. An odd one is that of
        the steps where the model has been (`leverage`): elsewhere a linear model is wrong of a world that is not, and
        a policy that follows the state makes that look like the actions' doing. Ask it before `surprise`, which learns
        the row. Where it was odd for long (`FEW_FAR`) it is that of all steps.

        Args:
            x: Inputs [m, P].
            y: Targets [m, K].
            places: The inputs that are asked for.
        """
        self.lost = False
        if not self.knows or not finite(x, y):
            return None
        found = self._gain(x, y, places)
        if found is not None and not 1 / USUAL_GAIN < found < USUAL_GAIN and self._far < FEW_FAR:
            near = self.leverage(x) <= REACH
            self.lost = 2 * int(np.count_nonzero(near)) < len(x)
            found = None if self.lost else self._gain(x[near], y[near], places)
        if found is not None:
            self._count(found)
        return found

    def _count(self, gain: float) -> None:
        """Count a row whose gain is told; one that is neither near 1 nor far changes nothing."""
        if 1 / USUAL_GAIN < gain < USUAL_GAIN:
            self._far = max(0, self._far - 1)
        elif not 1 / FAR_GAIN < gain < FAR_GAIN:
            self._far = min(MOST_FAR, self._far + 1)

    def _gain(self, x: Floats, y: Floats, places: slice) -> float | None:
        slopes, size, moves = self._model()
        if not moves.any():
            return None
        own = x[:, places]
        added = (own - mean(own)) @ slopes[1:][places]
        missed = y - slopes[0] - x @ slopes[1:]
        added, left = (added / size)[:, moves], (missed / size)[:, moves]
        power = float(np.add.reduce(added * added, axis=None)) / added.size
        return 1 + float(np.add.reduce(left * added, axis=None)) / added.size / power if power > LEAST_ADDED else None

    def asked(self, x: Floats, y: Floats, places: slice | None = None) -> tuple[float, float] | None:
        """Return the median error of a few steps, in spreads of the targets, and the gain; nothing is learned.

        Lean, as it is asked more often than rows come; None where nothing can be said. The gain is that of `gain`; 1
        where no places are asked for or these add too little.
        """
        if not self.knows:
            return None
        slopes, size, moves = self._model()
        error = (y - slopes[0] - x @ slopes[1:]) / size
        each: Floats = np.einsum("ij,ij->i", error, error)
        each.sort()
        median = float(each[len(each) // 2] / error.shape[1]) ** 0.5
        if places is None:
            return median, 1.0
        own = x[:, places]
        added: Floats = ((own - mean(own)) @ slopes[1:][places]) * (moves / size)
        power = float(np.add.reduce(added * added, axis=None))
        enough = power > LEAST_ADDED * len(own) * max(1.0, float(moves.sum()))
        return median, 1 + float(np.add.reduce(error * added, axis=None)) / power if enough else 1.0

    @property
    def knows(self) -> bool:
        """Whether enough was learned to say anything."""
        return self.weight >= 2 * self._xx.shape[0]

    def says(self, x: Floats) -> Floats:
        """Return what the targets [m, K] of inputs [m, P] should be by what was learned."""
        if self._said is None or self._said[0] is not x:  # several ask it of one row
            slopes, _, _ = self._model()
            self._said = x, slopes[0] + x @ slopes[1:]
        return self._said[1]

    @property
    def sizes(self) -> Floats:
        """Return the spreads of the targets [K]."""
        return self._model()[1]

    def missed_by(self, error: Floats) -> Floats:
        """Return the mean square of errors [m, K] of each step [m], in spreads of the targets."""
        _, size, _ = self._model()
        error = error / size
        return np.einsum("ij,ij->i", error, error) / error.shape[1]

    def read_as(self, x: Floats, y: Floats, places: slice, others: Floats) -> tuple[Floats, Floats] | None:
        """Return the mean squared error of each step [1 + G, m], in spreads of the targets: as given, then as others.

        With it comes by how much the others move what is to follow [G, m], in the same units.

        Args:
            x: Inputs [m, P].
            y: Targets [m, K].
            places: The inputs that are read otherwise.
            others: What they are read as [G, m, those].
        """
        if not self.knows:
            return None
        slopes, size, _ = self._model()
        left = (y - slopes[0] - x @ slopes[1:]) / size
        many = y.shape[1]
        own, read = x[:, places], others.reshape(-1, others.shape[2])
        apart = ((own[None] - others).reshape(read.shape) @ (slopes[1:][places] / size)).reshape(len(others), -1, many)
        missed = np.concatenate([left[None], left + apart])
        return np.add.reduce(missed * missed, axis=2) / many, np.add.reduce(apart * apart, axis=2) / many

    def does(self, places: slice) -> Floats:
        """Return what some inputs add to the targets [those, K], in spreads of the targets."""
        slopes, size, _ = self._model()
        return slopes[1:][places] / size

    def leverage(self, x: Floats) -> Floats:
        """Return how far each step [m] lies from what was learned, in directions that were: 1 is the average of that.

        Source: the diagonal of the hat matrix (Hoaglin and Welsch 1978) over its mean; steps of the row are not in it.
        """
        inputs = np.concatenate([np.ones((len(x), 1)), x], axis=1)
        reach = cast(Floats, np.linalg.solve(self._held(), inputs.T))
        return np.einsum("ij,ji->i", inputs, reach) * self.weight / len(self._xx)

    def _held(self) -> Floats:
        """Return the sums of squares of the inputs [P + 1, P + 1] with what holds slopes down."""
        return self._xx + np.diag(RIDGE * np.diag(self._xx) + 1e-12 * self.weight)

    def input_variance(self) -> Floats:
        """Variance of each input [P] over what is remembered."""
        middle = self._xx[0, 1:] / self.weight
        return np.maximum(np.diag(self._xx)[1:] / self.weight - middle * middle, 0.0)

    def _model(self) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return slopes [P + 1, K], and of the targets their sizes [K] and which of them move [K]."""
        if self._known is None:
            slopes = cast(Floats, np.linalg.solve(self._held(), self._xy))
            middle = self._sum / self.weight
            spread = np.sqrt(np.maximum(self._square / self.weight - middle * middle, 0.0))
            least = 1e-9 + 1e-3 * np.abs(middle)  # what never varied has a size, too
            self._known = slopes, np.maximum(spread, least), spread > least
        return self._known

    def _learn(self, inputs: Floats, y: Floats) -> None:
        self._known = self._said = None
        self.weight = MEMORY * self.weight + len(y)
        self._xx = MEMORY * self._xx + inputs.T @ inputs
        self._xy = MEMORY * self._xy + inputs.T @ y
        self._square = MEMORY * self._square + np.add.reduce(y * y)
        self._sum = MEMORY * self._sum + np.add.reduce(y)


def foreseen(dynamics: Predictor, width: int) -> dict[str, float]:
    """Say which share of the variance of the next observation [width] was predicted.

    Of the observation, not of its change: what is drawn afresh comes back towards the mean, so that half of its change
    would count as foreseen.
    """
    if dynamics.missed is None:
        return {}
    variance = dynamics.input_variance()[:width]
    varied = variance > TINY * TINY
    if not varied.any():
        return {}
    share = 1 - float(np.mean(np.minimum(dynamics.missed[varied] / variance[varied], MOST_MISSED)))
    return {"env/predicted_frac": share}
