"""The mean entropy counts padding."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..sequences import entropy_effect


@check(
    "TOK109",
    "entropy-counts-padding",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Take the mean entropy over trained tokens.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The mean entropy counts padding.

    Measured: the change of the mean entropy when three columns of padding are added on the right.

    Why it hurts: the entropy falls or rises with lengths alone, and alarms or bonuses that use it are wrong.

    Usual causes: a mean over all columns.

    What to try: compare a batch with and without a long row.

    Harmless: when the number is only logged and lengths are equal.
    """
    change = bench.once(entropy_effect)
    if change <= 1e-3:
        return None
    return Symptom(
        f"three more columns of padding change the mean entropy by {change:.2%}", "entropy", {"change_frac": change}
    )
