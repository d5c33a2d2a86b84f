"""The check `length-tells-preference`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import rate_interval, shown
from ..datafile import DataFile
from ..gate import lacks, too_few

LEAST = 50
"""Pairs."""
RATE = 0.75
"""Surely exceeded: a reward model that measures length alone would be as good as many that are published."""


@check(
    "PDT024",
    "length-tells-preference",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    fix="Balance lengths within pairs, or watch length beside reward from the first step.",
)
def look(data: DataFile) -> Answer:
    """The length of the answers alone tells which one is chosen.

    What is measured:
        Among pairs of different length, the share in which the chosen side is the longer (or the shorter) one, with
        its 95 % interval.

    Why it hurts:
        The reward model learns length; the policy then writes more and more, or less and less.

    Usual causes:
        Annotators and judges prefer detail; rejected answers of a smaller model or cut; swapped columns.

    What to try:
        Fit length alone as a baseline and compare the reward model with it.

    When it is harmless:
        Tasks in which length is quality, such as a summary that must be short.

    References:
        Singhal et al. 2023, arXiv 2310.03716; Dubois et al. 2024, arXiv 2404.04475.
    """
    skip = lacks(data, "chosen", "rejected")
    if skip is not None:
        return skip
    lengths = [(s.texts["chosen"].length, s.texts["rejected"].length) for s in data.with_texts("chosen", "rejected")]
    differ = [(a, b) for a, b in lengths if a != b]
    skip = too_few(len(differ), LEAST, "pairs of different length")
    if skip is not None:
        return skip
    longer = sum(a > b for a, b in differ)
    side, count = ("longer", longer) if 2 * longer >= len(differ) else ("shorter", len(differ) - longer)
    if rate_interval(count, len(differ))[0] < RATE:
        return None
    return Symptom(
        f"in {shown(count, len(differ))} pairs the chosen side is the {side} one",
        "chosen",
        {"pairs_hit": count, "pairs": len(differ), "side": side},
    )
