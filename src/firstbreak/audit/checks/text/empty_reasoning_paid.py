"""The check `empty-reasoning-paid`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rewards
from ...judgement.paid import answer, column
from ...table import Table


@check(
    "AUD040",
    "empty-reasoning-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Pay the format only where the reasoning holds words and the answer is right.",
)
def look(table: Table) -> Answer:
    """Responses whose place for reasoning is empty are paid.

    What is measured:
        Responses with tags of reasoning and fewer than five words between them; what they earn beyond their rivals.

    Why it hurts:
        The format term is earned without a thought, and reasoning dies out.

    Usual causes:
        A format reward that looks for tags; answers that can be guessed.

    What to try:
        Put the empty tags through the scorer.

    When it is harmless:
        When the policy may choose not to think, and people's scores agree, which clears it.

    References:
        Guo et al. 2025 (DeepSeek-R1), arXiv 2501.12948, section 2.2.2 (format rewards).
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    return answer(
        table, column(table, "text/reasoning_empty") == 1, "responses with empty reasoning", "text/reasoning_empty"
    )
