"""Whether steps follow from actions as they were handed over, or from what a slip on the way makes of them.

Between the place where the world watches and the task itself lie more layers: casts, clips, drivers. What they do to an
action shows in no figure of the trainer, but in what follows from it: where the model that was learned of earlier steps
explains the newest ones by another reading of their actions far better than by the actions themselves, that reading is
what the task got.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .columns import finite
from .predictor import LEAST_UNEXPLAINED
from .transitions import MOST_CHOICES, acting

if TYPE_CHECKING:
    from .predictor import Predictor
    from .transitions import Floats

METRIC = "env/action_reread"
NUMBER = "env/action_reading"
TRIMMED = 8
"""One in so many steps, the worst, is left out: a contact or a reset follows from no action. Engineering choice."""
MOST = 16
"""Action entries; more cost too much."""
OFF, RIGHT, KNOWN = 0.7, 0.85, 8
"""A stretch of steps is told at once where its error under another reading is so small a part of the one as handed
over, and `KNOWN` stretches before, all of them, were above `RIGHT`."""
NEAR = 0.8
"""Gain of actions, or its inverse, that is as ever: cut, lost or turned, actions come to less. As `early.LEAST_LOG`."""


def readings(action: Floats) -> Floats:
    """Return what slips on the way make of actions [m, A] -> [G, m, A], numbered as in the vocabulary."""
    zero = np.zeros_like(action)
    cut = [zero, np.trunc(action), np.rint(action), np.maximum(action, zero), np.minimum(action, zero), -action]
    return np.stack([*cut, action[:, ::-1]] if action.shape[1] > 1 else cut)


class Readings:
    """Asks about rows, and every stretch of steps before a row is due."""

    def __init__(self) -> None:
        self._known, self._least = 0, np.inf

    def row(self, model: Predictor, inputs: Floats, action: Floats, change: Floats) -> dict[str, float]:
        """Return the error of a row's steps under the best other reading over that as handed over, and which it is."""
        found = asked(model, inputs, action, change)
        return {} if found is None else {METRIC: found[0], NUMBER: float(found[1])}

    def off(self, model: Predictor, inputs: Floats, action: Floats, change: Floats, gain: float | None) -> bool:
        """Say whether a stretch follows from another reading of its actions as none before it did.

        Args:
            model: What was learned of the steps before.
            inputs: What `expanded` makes of observations and actions [m, P].
            action: [m, A].
            change: Of the observation [m, D].
            gain: Of the actions in it (`Predictor.asked`): where it is as ever, readings are not asked, which would
                cost as much again as all else of a stretch. None: nothing is known yet.
        """
        if gain is None:
            return False
        known = self._known >= KNOWN and self._least >= RIGHT
        self._known += 1
        if NEAR < gain < 1 / NEAR:
            return False
        found = asked(model, inputs, action, change)
        self._least = self._least if found is None else min(self._least, found[0])
        return known and found is not None and found[0] <= OFF


def asked(model: Predictor, inputs: Floats, action: Floats, change: Floats) -> tuple[float, int] | None:
    """Return the smallest error ratio over readings, and its number; None where nothing can be said.

    Args:
        model: What was learned of the steps before.
        inputs: What `expanded` makes of observations and actions [m, P].
        action: [m, A].
        change: Of the observation [m, D].
    """
    many = action.shape[1]
    if many == MOST_CHOICES or many > MOST or len(action) < TRIMMED or not finite(inputs, change):
        return None
    others = readings(action)
    missed = model.read_as(inputs, change, acting(change, action), np.concatenate([others, others * others], axis=2))
    if missed is None:
        return None
    missed.sort(axis=1)
    errors: Floats = missed[:, : -(len(action) // TRIMMED)].mean(axis=1) + LEAST_UNEXPLAINED**2
    best = int(errors[1:].argmin())
    return float(errors[1 + best] / errors[0]) ** 0.5, best
