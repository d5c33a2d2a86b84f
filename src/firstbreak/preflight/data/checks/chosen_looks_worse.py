"""The check `chosen-looks-worse`."""

from __future__ import annotations

import re

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import even_chance
from ..datafile import DataFile
from ..gate import lacks, too_few
from ..text import Text

LEAST = 30
"""Pairs."""
RARE = 1e-4
"""Chance below which an imbalance is told: three signs are tried."""
TWICE = 2.0
_REFUSAL = re.compile(
    r"\b(i'?m sorry|i am sorry|i can'?t|i cannot|i'?m unable|i am unable|as an ai|i won'?t be able)\b", re.IGNORECASE
)
_ENDS = tuple(".!?:;)]}>\"'`»”’。！？…")


@check(
    "PDT023",
    "chosen-looks-worse",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    fix="Read ten pairs; if chosen is the worse side, swap the columns.",
    explained_by=("chosen-rejected-reversed",),
)
def look(data: DataFile) -> Answer:
    """The chosen side refuses, breaks off or is empty more often than the rejected side.

    What is measured:
        Pairs in which exactly one side is empty, refuses in its first words, or breaks off without a mark of
        punctuation; how often that is the chosen one, against an even coin.

    Why it hurts:
        It is a weak sign that the sides are swapped; the only one a file without scores gives.

    Usual causes:
        Columns swapped in a conversion; better answers cut at a maximum length.

    What to try:
        Read ten such pairs, or add scores of both sides.

    When it is harmless:
        Data that teaches to refuse; formats such as code and lists that end without punctuation.

    References:
        Sign test (Arbuthnot 1710); engineering default: twice as often, and a chance below 0.0001.
    """
    skip = lacks(data, "chosen", "rejected")
    if skip is not None:
        return skip
    pairs = [(s.texts["chosen"], s.texts["rejected"]) for s in data.with_texts("chosen", "rejected")]
    skip = too_few(len(pairs), LEAST, "pairs")
    if skip is not None:
        return skip
    for what, sign in (("is empty", _empty), ("refuses", _refuses), ("breaks off", _breaks_off)):
        one = sum(sign(a) and not sign(b) for a, b in pairs)
        other = sum(sign(b) and not sign(a) for a, b in pairs)
        if one >= TWICE * max(1, other) and even_chance(one, one + other) < RARE:
            return Symptom(
                f"in {one} pairs only the chosen side {what}, in {other} only the rejected side",
                "chosen",
                {"chosen_only": one, "rejected_only": other, "pairs": len(pairs), "sign": what},
            )
    return None


def _empty(text: Text) -> bool:
    return text.empty


def _refuses(text: Text) -> bool:
    return bool(_REFUSAL.search(text.head[:150].replace("’", "'")))


def _breaks_off(text: Text) -> bool:
    end = text.end.rstrip()
    return bool(end) and not end.endswith(_ENDS)
