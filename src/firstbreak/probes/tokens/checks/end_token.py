"""TPR060: the end token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..model import Policy
from ..rung import Mistake, TokenRung, by_gain, log_odds_gain, stuck_or_backwards
from ..task import END, TokenTask
from ..trial import TokenTrial, judge


def task() -> TokenTask:
    """Pay for stopping within two tokens."""
    return TokenTask("end-token", lambda prompt, completion: float(END in completion[:2]), longest=6)


def read(now: Policy, then: Policy, task: TokenTask) -> Mapping[str, float]:
    """The probability of stopping within two tokens."""

    def stops(policy: Policy) -> float:
        rows = [policy.second(p) for p in task.prompts]
        both = [float(f[END]) + float((f * s[:, END]).sum() - f[END] * s[END, END]) for f, s in rows]
        return sum(both) / len(both)

    p = stops(now)
    return {"p": p, "gain": log_odds_gain(p, stops(then))}


def mistake(numbers: Sequence[Mapping[str, float]]) -> Mistake:
    """Backwards, or not at all."""
    return stuck_or_backwards(numbers, Mistake("stopping pays and is not learnt"))


RUNG = TokenRung(
    "end-token",
    "the end token",
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
    "TPR060",
    "end-token-not-learned",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    fix="Keep the end token in the completion, in the loss mask and in what is scored.",
    severity=Severity.ERROR,
)
def look(trial: TokenTrial) -> Answer:
    """Stopping early pays, and the policy does not learn to stop.

    **What is measured.** Completions of up to six tokens; one that ends within two tokens earns 1. The
    probability of that.

    **Why it hurts.** A policy that cannot learn its end token runs to the limit whatever is rewarded.

    **Usual causes.** The end token masked with the padding; cut off before training; generation that forbids
    it.

    **What to try.** Look for the end token in the trained ids, and at its mask.

    **When it is harmless.** When something else than the end token stops a completion.
    """
    return judge(trial, RUNG)
