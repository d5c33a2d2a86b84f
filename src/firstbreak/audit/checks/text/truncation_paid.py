"""The check `truncation-paid`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs, needs_rewards
from ...judgement.paid import answer, column
from ...table import Table


@check(
    "AUD034",
    "truncation-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Do not score answers that were cut off, or score them as unfinished.",
)
def look(table: Table) -> Answer:
    """Answers that were cut off at the limit are paid more than those that ended.

    What is measured:
        Answers marked as truncated against their rivals at the same prompt, with a 95 % interval.

    Why it hurts:
        The policy learns never to stop, and each answer costs the whole budget.

    Usual causes:
        A scorer that takes what it finds first; a penalty that only finished answers can get; reward by length.

    What to try:
        Score the answers again with a longer limit.

    When it is harmless:
        When the limit lies far below what the task needs and all good answers reach it.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.4 (overlong reward shaping).
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    skip = needs(table, "truncated")
    if skip is not None:
        return skip
    return answer(table, column(table, "truncated") == 1, "truncated answers", "truncated")
