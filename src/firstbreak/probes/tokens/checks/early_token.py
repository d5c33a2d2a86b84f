"""TPR040: credit to an early token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..model import Policy
from ..rung import Mistake, TokenRung, by_gain, log_odds_gain, stuck_or_backwards
from ..task import TokenTask
from ..trial import TokenTrial, judge

PAID = 7


def task() -> TokenTask:
    """Pay for the first of up to six tokens."""
    return TokenTask("early-token", lambda prompt, completion: float(completion[:1] == (PAID,)), longest=6)


def read(now: Policy, then: Policy, task: TokenTask) -> Mapping[str, float]:
    """The probability of the paid token in the first place and, unasked, in the second."""
    rows = [(*now.second(p), *then.second(p)) for p in task.prompts]
    p = sum(float(first[PAID]) for first, *_ in rows) / len(rows)
    before = sum(float(first[PAID]) for _, _, first, _ in rows) / len(rows)
    second = sum(float((first @ after)[PAID]) for first, after, *_ in rows) / len(rows)
    return {"p": p, "gain": log_odds_gain(p, before), "p_second": second}


def mistake(numbers: Sequence[Mapping[str, float]]) -> Mistake:
    """The right token in the wrong place tells of a shift."""
    last = numbers[-1]
    if last["p_second"] > 2 * last["p"] and last["p_second"] > 0.3:
        says = "the token is learnt one place late: masks or labels are shifted"
        return Mistake(says, Component.LOSS_MASK, Link.POLICY_UPDATE)
    return stuck_or_backwards(numbers, Mistake("a reward at the end does not reach the first token"))


RUNG = TokenRung(
    "early-token",
    "credit to an early token",
    task,
    read,
    by_gain,
    mistake,
    "near 1",
    "p",
    needs=("one-token",),
    effort=1.5,
)


@check(
    "TPR040",
    "early-token-gets-no-credit",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    fix="Give every token of a completion its share of the reward that comes at the end.",
    severity=Severity.ERROR,
)
def look(trial: TokenTrial) -> Answer:
    """The first token of a longer completion decides the reward, and is not learnt.

    **What is measured.** Completions of up to six tokens; the reward comes at the end and depends on the first
    token alone. The probability of that token.

    **Why it hurts.** In answers of a thousand tokens the deciding ones are early.

    **Usual causes.** A reward that stays on the last token (gamma 0, lambda 0, whitening away); a mask that
    covers the end only.

    **What to try.** Print the advantage of each token of one completion.

    **When it is harmless.** With rewards by token on purpose.
    """
    return judge(trial, RUNG)
