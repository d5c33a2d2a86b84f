"""The check `same-answer-paid-everywhere`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, check
from ....finding import Component, Link, Severity, Skip
from ...judgement.constant_answers import CLOSED, everywhere, is_closed_set
from ...judgement.gate import needs_rewards
from ...judgement.paid import answer
from ...table import Table


@check(
    "AUD009",
    "same-answer-paid-everywhere",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Give this answer to ten other prompts; the scorer must reject it at nearly all.",
)
def look(table: Table) -> Answer:
    """One and the same answer, given to many different prompts, earns more than its rivals there.

    What is measured:
        Answers that stand word for word at six or more prompts and beat their rivals at nearly all of them: what they
        earn beyond the other answers at each prompt, in spreads, with a 95 % interval. One prompt drawn at several
        steps counts once. Where answers come from a small set (letters, digits, yes and no), of which one is right at
        each prompt, the check does not look: there a right answer is always one that others give too.

    Why it hurts:
        An answer that does not depend on the question is paid: the policy will give it always.

    Usual causes:
        A judge with a master key (a colon, `Solution`); a verifier that accepts an empty or a refused answer; leaked
        labels.

    What to try:
        Put the answer through the scorer for prompts of other kinds.

    When it is harmless:
        When one of a few possible answers is right at most prompts.

    References:
        Zhao et al. 2025, arXiv 2507.08794 (one token to fool a judge).
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    if table.response.size != table.n:
        return Skip("the table holds no fingerprints of the answers")
    if is_closed_set(table):
        return Skip(f"over {100 * CLOSED:.0f} % of the answers come from a small set, one of it paid at each prompt")
    return answer(table, np.isin(table.response, everywhere(table)), "answers equal at many prompts", "response")
