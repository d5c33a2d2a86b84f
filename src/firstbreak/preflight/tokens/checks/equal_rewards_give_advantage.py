"""A group of equal rewards gets advantages that are not 0, or not finite."""

from __future__ import annotations

import math

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..grouping import grouped

ZERO = 1e-2
"""Rounding of 0.7 over an epsilon of 1e-4 leaves about 1e-3."""


@check(
    "TOK093",
    "equal-rewards-give-advantage",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Add an epsilon to the standard deviation, and give groups without spread an advantage of 0.",
    explained_by=(
        "group-advantage-not-zero-sum",
        "groups-leak-advantage",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """A group of equal rewards gets advantages that are not 0, or not finite.

    Measured: the advantages of a group whose rewards are all 0.7.

    Why it hurts: one group of all-right answers turns the loss into NaN or into a large random step.

    Usual causes: division by a standard deviation of 0; rounding noise that is divided by a tiny epsilon.

    What to try: rewards 1, 1, 1, 1 must give zeros.

    Harmless: never.
    """
    found = bench.once(grouped)
    mine = found.equal[found.group == 0]
    largest = float(mine.abs().max())
    if largest <= ZERO:
        return None
    what = f"advantages up to {largest:.2g}" if math.isfinite(largest) else "advantages that are not finite"
    return Symptom(
        f"a group of {len(mine)} equal rewards gets {what}", "advantages", {"largest": largest, "rows": len(mine)}
    )
