"""The check `chosen-rejected-reversed`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import rate_interval, shown
from ..datafile import DataFile
from ..gate import lacks, too_few

LEAST = 20
"""Scored pairs; with fewer the interval of the rate is wider than half."""
NOISY = 0.1
"""Rate of contradicted pairs, surely exceeded, from which on the labels are worth a look."""


@check(
    "PDT003",
    "chosen-rejected-reversed",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Swap chosen and rejected, or the sign of the score, after reading ten pairs.",
)
def look(data: DataFile) -> Answer:
    """The chosen answer is the one with the lower score.

    What is measured:
        Among pairs whose two scores differ, the share with score_chosen < score_rejected, with its 95 % interval.
        Reversed: the interval lies above one half. Noisy: above 10 %.

    Why it hurts:
        The reward model or the policy learns the opposite of what was wanted, and every training curve looks well.

    Usual causes:
        Columns swapped in a conversion; ranks (1 is best) taken for scores; a score that is a loss or a distance.

    What to try:
        Read ten pairs; correlate the reward model's margin with the scores on held-out pairs.

    When it is harmless:
        The scores are of another judge than the labels and the share is small, or a lower score is better.

    References:
        Wilson 1927 for the interval; a reversed pair is among the commonest wiring mistakes of preference data.
    """
    skip = lacks(data, "chosen", "rejected")
    if skip is not None:
        return skip
    if "score_chosen" not in data.roles or "score_rejected" not in data.roles:
        return Skip("there are no scores of chosen and rejected", ("score_chosen", "score_rejected"))
    scores = [
        (s.numbers["score_chosen"], s.numbers["score_rejected"])
        for s in data.samples
        if "score_chosen" in s.numbers and "score_rejected" in s.numbers
    ]
    differ = [(a, b) for a, b in scores if a != b]
    skip = too_few(len(differ), LEAST, "pairs with different scores")
    if skip is not None:
        return skip
    against = sum(a < b for a, b in differ)
    low, high = rate_interval(against, len(differ))
    if low <= NOISY:
        return None
    return Symptom(
        f"{shown(against, len(differ))} scored pairs have the lower score as chosen (interval {low:.2f}-{high:.2f})",
        "chosen",
        {"against_frac": against / len(differ), "low_frac": low, "high_frac": high, "pairs": len(differ)},
        severity=Severity.ERROR if low > 0.5 else Severity.WARNING,
    )
