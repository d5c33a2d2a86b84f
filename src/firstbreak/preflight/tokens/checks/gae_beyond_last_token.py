"""GAE reads values beyond the end of a completion."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..sequences import gae


@check(
    "TOK103",
    "gae-beyond-last-token",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Bootstrap from 0 after the last token, and let the trace run over trained tokens only.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """GAE reads values beyond the end of a completion.

    Measured: the advantages of trained tokens when the values of all other columns are changed by 7.

    Why it hurts: advantages of last tokens hold the value of padding, which nobody trains.

    Usual causes: next values taken by shifting the whole row; a mask applied after the recursion instead of
    inside.

    What to try: values of padding must not change any advantage.

    Harmless: when a truncated completion is bootstrapped on purpose from the value after its last token.

    References: Schulman et al. 2016, arXiv 1506.02438.
    """
    found = bench.once(gae)
    mask = found.mask > 0
    size = float(found.advantages[mask].norm())
    change = float((found.padding_changed - found.advantages)[mask].norm()) / max(size, 1e-30)
    if change <= 1e-3:
        return None
    return Symptom(
        f"other values on columns that are not trained change the advantages by {change:.0%}",
        "gae",
        {"change_frac": change},
    )
