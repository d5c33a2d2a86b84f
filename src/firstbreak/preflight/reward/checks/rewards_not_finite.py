"""The check `rewards-not-finite`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity
from ..sample import RewardSample


@check(
    "PRW001",
    "rewards-not-finite",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Find the first term that is not finite; do not replace NaN by 0.",
)
def look(sample: RewardSample) -> Answer:
    """A reward is NaN, infinite or missing.

    What is measured:
        How many rewards are not finite, and which is the first.

    Why it hurts:
        One NaN reward makes the return, the advantage and then every weight NaN.

    Usual causes:
        A division by a distance or a spread of 0; the logarithm of 0; a scorer that failed and left its cell empty.

    What to try:
        Print the terms of the reward at the row named.

    When it is harmless:
        Never in training. In a table, an empty cell may be a row that was not scored: leave such rows out.

    References:
        IEEE 754: every sum that holds a NaN is NaN.
    """
    wrong = ~np.isfinite(sample.rewards)
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    step = first
    for one in sample.slices:
        if one.start <= first < one.stop:
            step = first - one.start
    word = "step" if sample.stepwise else "row"
    nans = int(np.isnan(sample.rewards).sum())
    return Symptom(
        f"{int(wrong.sum())} of {wrong.size} rewards are NaN or infinite, first at {word} {step + 1}",
        "reward",
        {"not_finite": int(wrong.sum()), "nan": nans, "rewards": int(wrong.size), "first_row": first + 1},
        at=Onset(step, step, "env_steps" if sample.stepwise else "rows", 1.0),
    )
