"""The check `truncation-punished`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...judgement.gate import needs, needs_rewards
from ...judgement.paid import CLEAR, LEAST_GROUPS, column, paid
from ...table import Table

FEW = 0.05
"""Lower bound of the share of truncated answers from which their reward matters (failure mode of DAPO, section 3.4)."""


@check(
    "AUD035",
    "truncation-punished",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Mask truncated answers out of the loss, or raise the limit.",
)
def look(table: Table) -> Answer:
    """Many answers are cut off at the limit and punished for it, right or wrong.

    What is measured:
        The share of truncated answers, and what they earn less than their rivals at the same prompt, with a 95 %
        interval.

    Why it hurts:
        A right beginning is scored as wrong: noise that grows as answers grow, and teaches to stop early instead of
        well.

    Usual causes:
        A limit below the length that the task needs; scoring of what is unfinished.

    What to try:
        Score with a longer limit; mask truncated answers; a soft penalty before the limit.

    When it is harmless:
        When what is cut off are loops (see `repetition-paid`), which deserve no reward.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.4.
    """
    skip = needs_rewards(table) or needs(table, "truncated")
    if skip is not None:
        return skip
    cut = column(table, "truncated") == 1
    low, _ = fraction_interval(int(cut.sum()), table.n)
    if low <= FEW:
        return None
    seen = paid(table, cut)
    if seen.groups < LEAST_GROUPS:
        return Skip(
            f"only {seen.groups} prompts have truncated and whole answers", ("more prompts with several answers",)
        )
    if seen.high >= 0 or seen.gain > -CLEAR:
        return None
    return Symptom(
        f"{100 * cut.mean():.0f} % of the answers are truncated and earn {-seen.gain:.2f} spreads less than rivals",
        "truncated",
        seen.evidence(),
    )
