"""What a rung can tell with the trainer's own discount, where the ladder cannot set one.

With a discount near 1, a value that is discounted once too often is hardly another value, and a reward that is paid for
ever is worth so much that no short training gets there. Neither is a fault of the trainer.
"""

from __future__ import annotations

from dataclasses import replace

from .reading import apart
from .rung import Answers, Rung

RESOLUTION_FRAC = 0.02
"""What a learner with a constant learning rate leaves open, of the largest value or of 1: a tolerance below this would
judge its noise."""
FAR_STEPS = 20.0
"""A horizon 1 / (1 - gamma) beyond this is out of reach of the ladder's budgets, which are made for one of 2 to 4."""


def tellable(rung: Rung, answers: Answers) -> Answers:
    """Return `answers` without those mistakes that could only be told from the right answer by a finer tolerance."""
    if rung.asks != "value":
        return answers
    scale = max(1.0, *(abs(x) for x in answers.right))
    least = RESOLUTION_FRAC * scale / rung.closeness_frac
    gaps = [(w, apart(w.answer, answers.right)) for w in answers.wrong]
    return replace(answers, wrong=tuple(w for w, gap in gaps if gap >= least or gap <= 1e-9))


def out_of_reach(rung: Rung, gamma: float) -> bool:
    """Whether the right answer is too far for the ladder's budgets; that it is approached can still be seen."""
    return rung.endless and (gamma >= 1.0 or 1.0 / (1.0 - gamma) > FAR_STEPS)
