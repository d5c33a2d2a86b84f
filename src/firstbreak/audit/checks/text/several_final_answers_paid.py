"""The check `several-final-answers-paid`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rewards
from ...judgement.paid import answer, column
from ...table import Table

SEVERAL = 3
"""Different final answers; two happen when a mistake is corrected. Engineering default."""


@check(
    "AUD027",
    "several-final-answers-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Let the verifier accept one final answer only, the last, and reject a response with several.",
)
def look(table: Table) -> Answer:
    """Responses that give several different final answers are paid.

    What is measured:
        Responses with three or more different answers in boxes, tags or after words such as `the answer is`; what they
        earn beyond their rivals.

    Why it hurts:
        A verifier that searches for the right answer anywhere is beaten by naming many.

    Usual causes:
        A substring or any-match verifier.

    What to try:
        Put `1, 2, 3, ... 100` through the verifier.

    When it is harmless:
        When the task has several parts with one answer each.

    References:
        Huang et al. 2025, arXiv 2505.22203 (pitfalls of verifiers in RLVR).
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    return answer(
        table,
        column(table, "text/distinct_answers") >= SEVERAL,
        "responses with several final answers",
        "text/distinct_answers",
        least=5,
    )
