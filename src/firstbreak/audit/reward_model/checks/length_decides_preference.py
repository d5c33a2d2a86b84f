"""The check `length-decides-preference`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import LEAST, too_few
from ..record import Scored

GAP = 0.15
"""Difference of the two accuracies. Engineering default."""


@check(
    "RWM009",
    "length-decides-preference",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Control for length: balance pairs, or subtract the fitted length term.",
    explained_by=(
        "model-scores-constant",
        "preferences-reversed",
    ),
)
def look(scored: Scored) -> Answer:
    """The model prefers the longer (or the shorter) response, beyond what the labels say.

    What is measured:
        A logistic fit of 'chosen scores higher' on the difference in log length: its coefficient is surely not 0,
        and the accuracy where the chosen side is the shorter one falls behind the accuracy where it is the longer
        one by 15 points or more. An error where the former is surely below one half while the latter is above.

    Why it hurts:
        The policy lengthens its answers instead of bettering them.

    Usual causes:
        Preference data in which the longer side usually wins.

    What to try:
        Report accuracy at equal length; add pairs whose better side is shorter.

    When it is harmless:
        When longer really is better on these prompts; compare with the labels' own preference for length.

    References:
        Singhal et al. 2023, arXiv 2310.03716; Dubois et al. 2024, arXiv 2404.04475; Bradley and Terry 1952.
    """
    skip = too_few(scored, 30)
    if skip is not None:
        return skip
    fit = scored.length
    shorter, longer = scored.accuracy(scored.log_lengths < 0), scored.accuracy(scored.log_lengths > 0)
    if fit is None or min(shorter.tries, longer.tries) < LEAST:
        return Skip(f"fewer than {LEAST} pairs have a shorter, or a longer, chosen side", ("pairs of either kind",))
    if fit.length_low <= 0 <= fit.length_high or abs(longer.value - shorter.value) < GAP:
        return None
    worse, better = sorted((shorter, longer), key=lambda r: r.value)
    word = "longer" if fit.length > 0 else "shorter"
    return Symptom(
        f"prefers the {word} side: right in {100 * longer.value:.0f} % where chosen is longer, "
        f"{100 * shorter.value:.0f} % where shorter",
        "score",
        {
            "accuracy_longer_frac": longer.value,
            "accuracy_shorter_frac": shorter.value,
            "length_coefficient": fit.length,
            "coefficient_low": fit.length_low,
            "coefficient_high": fit.length_high,
            "accuracy_at_equal_length_frac": fit.accuracy_at_equal_length,
            "pairs": int(scored.differences.size),
        },
        severity=Severity.ERROR if worse.high < 0.5 < better.low else Severity.WARNING,
    )
