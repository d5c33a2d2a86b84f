"""TPR050: credit to the right place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..model import Policy
from ..rung import Mistake, TokenRung, by_gain, log_odds_gain, stuck_or_backwards
from ..task import END, TokenTask
from ..trial import TokenTrial, judge

PAID = 9


def task() -> TokenTask:
    """Pay for the second of up to three tokens."""
    return TokenTask("second-token", lambda prompt, completion: float(completion[1:2] == (PAID,)), longest=3)


def read(now: Policy, then: Policy, task: TokenTask) -> Mapping[str, float]:
    """The probability of the paid token in the second place and in the first."""
    rows = [(*now.second(p), *then.second(p)) for p in task.prompts]
    p = sum(float((first @ after)[PAID] - first[END] * after[END, PAID]) for first, after, *_ in rows) / len(rows)
    before = sum(float((first @ after)[PAID]) for _, _, first, after in rows) / len(rows)
    early = sum(float(first[PAID]) for first, *_ in rows) / len(rows)
    return {"p": p, "gain": log_odds_gain(p, before), "p_first": early}


def mistake(numbers: Sequence[Mapping[str, float]]) -> Mistake:
    """The right token in the wrong place tells of a shift."""
    last = numbers[-1]
    if last["p_first"] > 2 * last["p"] and last["p_first"] > 0.3:
        return Mistake("the token is learnt one place early: labels or masks are shifted", Component.LOSS)
    return stuck_or_backwards(numbers, Mistake("the token that pays in the second place is not learnt"))


RUNG = TokenRung(
    "second-token",
    "credit to a place in the middle",
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
    "TPR050",
    "second-token-not-learned",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    fix="Print tokens, mask and log-probs of one completion column by column.",
    severity=Severity.ERROR,
)
def look(trial: TokenTrial) -> Answer:
    """The second token of a completion decides the reward, and another place is learnt.

    **What is measured.** Completions of up to three tokens; token 9 in the second place earns 1. Its
    probability there, and in the first place.

    **Why it hurts.** Credit that lands one place off teaches the wrong habit.

    **Usual causes.** Mask or advantages shifted by one column; logits and labels off by one; credit to the last
    token only.

    **What to try.** Run `firstbreak preflight tokens`, which tells these apart.

    **When it is harmless.** Never.
    """
    return judge(trial, RUNG)
