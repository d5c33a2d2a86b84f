"""The Ladder: of a set that is used again and again only real progress is told (Blum and Hardt 2015, arXiv 1502.04585).

Each answer about a test set leaks something of it. The Ladder answers with the best score so far unless the new one is
better by more than noise, and so keeps the best score near the truth however many candidates are tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Rung:
    """What the Ladder answers to one look."""

    told: float
    """The score that may be used for decisions."""
    improved: bool
    step: float
    """By how much a score must be better than the best before it."""


def climb(best: float | None, new: float, step: float, *, lower: bool = False) -> Rung:
    """Answer one look: the new score, rounded to steps, if it beats the best told so far by more than `step`.

    Args:
        best: The best told so far, None at the first look.
        new: The new score.
        step: The noise of the difference.
        lower: Lower scores are better.
    """
    if best is None or (new < best - step if lower else new > best + step):
        return Rung(_rounded(new, step), True, step)
    return Rung(best, False, step)


def step_of(noise: float, best_noise: float | None) -> float:
    """Return the step for scores with these standard errors.

    The parameter-free Ladder takes the standard error of the paired difference; where the items of the best score are
    not kept, that of independent scores, which is larger when both rate the same items.
    """
    return math.hypot(noise, best_noise if best_noise is not None else noise)


def _rounded(value: float, step: float) -> float:
    """Round to a power of ten below the step, so that no digit tells more than the noise allows."""
    if not step > 0:
        return value
    unit = 10.0 ** math.floor(math.log10(step))
    return round(round(value / unit) * unit, 12)
