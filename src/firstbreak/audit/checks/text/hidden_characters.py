"""The check `hidden-characters`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ....preflight.reward.measures import fraction_interval
from ...judgement.gate import needs
from ...judgement.paid import answer, column
from ...table import Table

SEVERAL = 3
FEW = 0.005
LEAST = 5
"""Characters of an answer, and lower bound of the share of answers, and answers. Engineering defaults."""


@check(
    "AUD037",
    "hidden-characters",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Strip control and zero-width characters before scoring, and show them when reading samples.",
)
def look(table: Table) -> Answer:
    """Answers hold characters that nobody sees.

    What is measured:
        Answers with three or more control, zero-width, direction or private characters: their share with Wilson's
        interval, and what they earn beyond their rivals.

    Why it hurts:
        They change what a scorer or a filter reads and not what people read.

    Usual causes:
        A scorer that compares strings; texts scraped from the web; broken decoding of bytes.

    What to try:
        Normalise (NFKC) and strip, then score again.

    When it is harmless:
        Joiners in emoji and in scripts of South Asia and the Middle East are counted out by the measure; others may be
        usual.

    References:
        Boucher et al. 2021 (Bad Characters), arXiv 2106.09898.
    """
    skip = needs(table, "text/hidden_characters")
    if skip is not None:
        return skip
    hidden = column(table, "text/hidden_characters") >= SEVERAL
    low, high = fraction_interval(int(hidden.sum()), table.n)
    if low <= FEW or hidden.sum() < LEAST:
        return None
    pays = answer(table, hidden, "answers with hidden characters", "text/hidden_characters")
    if isinstance(pays, Symptom):
        return pays
    return Symptom(
        f"{100 * hidden.mean():.1f} % of the answers hold hidden characters",
        "text/hidden_characters",
        {"hidden_frac": float(hidden.mean()), "low_frac": low, "high_frac": high, "answers": int(hidden.sum())},
        severity=Severity.INFO,
    )
