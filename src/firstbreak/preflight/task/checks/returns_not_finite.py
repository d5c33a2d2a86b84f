"""The check `returns-not-finite`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..sample import TaskSample


@check(
    "PTK001",
    "returns-not-finite",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Find the first reward that is NaN or infinite (firstbreak preflight reward).",
)
def look(sample: TaskSample) -> Answer:
    """A return is NaN or infinite.

    What is measured:
        The number of returns of each policy that are not finite.

    Why it hurts:
        Means, intervals and every comparison with them are void; training on them makes all weights NaN.

    Usual causes:
        A reward with a division by 0; an empty cell in a table; an evaluation without a finished episode.

    What to try:
        Look at the rewards of that episode.

    When it is harmless:
        Never; leave out episodes that were not finished.

    References:
        IEEE 754: every sum that holds a NaN is NaN.
    """
    for who, values in sample.returns.items():
        wrong = int((~np.isfinite(values)).sum())
        if wrong:
            return Symptom(
                f"{wrong} of {values.size} returns of the {who} policy are NaN or infinite",
                f"return.{who}",
                {"not_finite": wrong, "episodes": int(values.size)},
            )
    return None
