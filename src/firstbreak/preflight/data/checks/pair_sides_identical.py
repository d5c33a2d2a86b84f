"""The check `pair-sides-identical`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks

SOME = 0.01
"""Below one pair in a hundred it costs next to nothing."""
MOST = 0.5
"""From half the pairs on one of the columns is a copy of the other."""


@check(
    "PDT004",
    "pair-sides-identical",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Drop pairs whose sides are equal; if most are, mend the column that was copied.",
)
def look(data: DataFile) -> Answer:
    """Chosen and rejected are the same text.

    What is measured:
        Pairs whose sides are equal but for case, white space and punctuation at the ends.

    Why it hurts:
        Such a pair has margin 0 for every model: it adds a constant to the loss and nothing to the gradient, and hides
        how well the rest is learnt.

    Usual causes:
        One column copied over the other; greedy sampling, which gives the same answer twice; a cut that removes what
        differed.

    What to try:
        Look at the first rows named; sample the two sides at a temperature above 0.

    When it is harmless:
        Few pairs (below 1 % it is told for information only).

    References:
        Rafailov et al. 2023, arXiv 2305.18290: the gradient of a pair is of the difference of its sides.
    """
    skip = lacks(data, "chosen", "rejected")
    if skip is not None:
        return skip
    pairs = data.with_texts("chosen", "rejected")
    same = [s for s in pairs if s.texts["chosen"].normal == s.texts["rejected"].normal]
    if not same:
        return None
    exact = sum(s.texts["chosen"].exact == s.texts["rejected"].exact for s in same)
    share = len(same) / len(pairs)
    return Symptom(
        f"{shown(len(same), len(pairs))} pairs have the same text on both sides, first row {same[0].number}",
        "chosen",
        {"same": len(same), "same_exactly": exact, "pairs": len(pairs), "first_row": same[0].number},
        severity=Severity.ERROR if share >= MOST else Severity.INFO if share < SOME else None,
    )
