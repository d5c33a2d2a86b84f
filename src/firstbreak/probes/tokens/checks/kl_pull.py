"""TPR080: the KL to the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..model import Policy
from ..rung import NOISE_NATS, Mistake, State, TokenRung, log_odds_gain
from ..task import TokenTask
from ..trial import TokenTrial, judge

PAID = 7
HELD = 0.85
"""Probability. Without a pull the rung below is at 0.95 or more after as many steps; the optimum is 0.5 or less."""


def task() -> TokenTask:
    """Pay one token, and hold on to the start."""
    return TokenTask("kl-pull", lambda prompt, completion: float(completion[:1] == (PAID,)), longest=1, beta=1.0)


def read(now: Policy, then: Policy, task: TokenTask) -> Mapping[str, float]:
    """The probability of the paid token, and how far its log-odds rose."""
    pairs = [(float(now.first(p)[PAID]), float(then.first(p)[PAID])) for p in task.prompts]
    p, before = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return {"p": p, "gain": log_odds_gain(p, before)}


def state(numbers: Mapping[str, float]) -> State:
    """Right between the start and what is reached without a pull."""
    if numbers["p"] > HELD or numbers["gain"] < -NOISE_NATS:
        return "wrong"
    return "right"


def mistake(numbers: Sequence[Mapping[str, float]]) -> Mistake:
    """Too far, or the other way."""
    if numbers[-1]["gain"] < -NOISE_NATS:
        return Mistake("with a KL term what is rewarded becomes less likely")
    return Mistake("a KL weight of 1 holds nothing back")


RUNG = TokenRung(
    "kl-pull",
    "the KL to the start",
    task,
    read,
    state,
    mistake,
    "at most 0.85",
    "p",
    needs=("one-token",),
    effort=1.5,
    wants_beta=True,
)


@check(
    "TPR080",
    "kl-does-not-pull-back",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    fix="Check sign, estimator and reference of the KL term: firstbreak preflight tokens.",
    severity=Severity.ERROR,
)
def look(trial: TokenTrial) -> Answer:
    """With a large KL weight the policy leaves its start as if there were none.

    **What is measured.** As the rung of one token, with a KL weight of 1. The optimum is p0 e / (p0 e + 1 -
    p0), 0.15 to 0.2 for p0 = 1/16 (Korbak et al. 2022, arXiv 2205.11275); with advantages over a standard
    deviation about 0.5.

    **Why it hurts.** A penalty that does not pull lets the policy drift as far as the reward asks.

    **Usual causes.** Sign; k1 as a loss; a reference that follows; the weight not passed on.

    **What to try.** Raise the weight: the KL must fall.

    **When it is harmless.** When the trainer has no KL term (leave `beta` out of its signature).
    """
    return judge(trial, RUNG)
