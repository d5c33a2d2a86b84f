"""The check `reward-parts-cancel`."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..measures import constant
from ..parts import added_up, usable_parts
from ..sample import RewardSample

OPPOSED = -0.8
"""Correlation under which two parts of equal spread leave under a tenth of their summed variance."""
EQUAL = 4.0
"""Ratio of the variances within which they are comparable (spreads within a factor of 2)."""


@check(
    "PRW021",
    "reward-parts-cancel",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Remove one of the two, or give them different weights on purpose.",
)
def look(sample: RewardSample) -> Answer:
    """Two components cancel each other: what one pays, the other takes.

    What is measured:
        The correlation of each pair of parts (with their weights, where these can be told), when the variances are
        within a factor of 4.

    Why it hurts:
        The sum hardly varies, so neither purpose is learnt, while both look alive in the log.

    Usual causes:
        A bonus and a penalty on the same quantity; a cost that was meant for something else.

    What to try:
        Drop one of the two and compare.

    When it is harmless:
        When a balance between the two is wanted and other parts lead.

    References:
        Engineering default of -0.8.
    """
    parts = usable_parts(sample, 2)
    if isinstance(parts, Skip):
        return parts
    made = added_up(sample)
    weights = made.weights if made is not None and made.adds_up else dict.fromkeys(parts, 1.0)
    paid = {k: weights[k] * v for k, v in parts.items() if not constant(weights[k] * v)}
    worst: tuple[float, str, str] | None = None
    for a, b in combinations(paid, 2):
        ratio = float(np.var(paid[a]) / np.var(paid[b]))
        if 1 / EQUAL <= ratio <= EQUAL:
            r = float(np.corrcoef(paid[a], paid[b])[0, 1])
            worst = min(worst or (r, a, b), (r, a, b))
    if worst is None or worst[0] > OPPOSED:
        return None
    r, a, b = worst
    left = float(np.var(paid[a] + paid[b]) / (np.var(paid[a]) + np.var(paid[b])))
    return Symptom(
        f"components {a[:30]} and {b[:30]} cancel each other: correlation {r:.2f}, {100 * left:.0f} % of variance left",
        f"reward.{a}",
        {"correlation": r, "first": a, "second": b, "variance_left_frac": left},
    )
