"""Normalising the advantages counts columns that are not trained."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..sequences import whitening_effect


@check(
    "TOK108",
    "whitening-counts-padding",
    link=Link.POLICY_UPDATE,
    component=Component.NORMALISER,
    severity=Severity.ERROR,
    fix="Take mean and variance over the mask.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """Normalising the advantages counts columns that are not trained.

    Measured: the normalised advantages of trained tokens when the numbers in all other columns change by 9.

    Why it hurts: the scale of the update depends on how much padding the batch has.

    Usual causes: `x.mean()` instead of a masked mean.

    What to try: numbers in padding must not change anything.

    Harmless: never.
    """
    change, mean = bench.once(whitening_effect)
    if change <= 1e-3 and abs(mean) <= 0.05:
        return None
    if change <= 1e-3:
        return Symptom(f"normalised advantages have mean {mean:.2g} over trained tokens", "whiten", {"mean": mean})
    return Symptom(
        f"numbers on columns that are not trained change normalised advantages by {change:.0%}",
        "whiten",
        {"change_frac": change, "mean": mean},
    )
