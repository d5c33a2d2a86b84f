"""TPR020: one token that pays."""

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
    """Pay one token."""
    return TokenTask("one-token", lambda prompt, completion: float(completion[:1] == (PAID,)), longest=1)


def read(now: Policy, then: Policy, task: TokenTask) -> Mapping[str, float]:
    """The probability of the paid token, and how far its log-odds rose."""
    pairs = [(float(now.first(p)[PAID]), float(then.first(p)[PAID])) for p in task.prompts]
    p, before = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return {"p": p, "gain": log_odds_gain(p, before)}


def mistake(numbers: Sequence[Mapping[str, float]]) -> Mistake:
    """Backwards, or not at all."""
    return stuck_or_backwards(numbers, Mistake("the token that pays is not learnt"))


RUNG = TokenRung("one-token", "a token that pays", task, read, by_gain, mistake, "near 1", "p")


@check(
    "TPR020",
    "rewarded-token-not-learned",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    fix="On one batch: the log-prob of a completion with a positive advantage must rise.",
    severity=Severity.ERROR,
)
def look(trial: TokenTrial) -> Answer:
    """A token that always pays does not become likely.

    **What is measured.** Completions of one token; token 7 earns 1, all others 0. The probability of token 7
    and the rise of its log-odds.

    **Why it hurts.** Nothing that depends on the policy update can work.

    **Usual causes.** A lost sign; a loss without gradient; rewards of other rows; a mask that leaves the only
    token out.

    **What to try.** Look at the advantages and at the mask of one batch by hand; run `firstbreak preflight
    tokens`.

    **When it is harmless.** Never.
    """
    return judge(trial, RUNG)
