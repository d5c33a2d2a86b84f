"""`TokenRung`: one task with a known answer, how its answer is read, and what a wrong one says.

The tolerance follows from the optimiser's budget. With Adam at rate eta each weight moves by at most about eta a step;
a logit is a sum of H products of a weight of the head with an activation of size 1, so in n steps it can move by about
n eta H. With the ladder's n = 40, eta = 3e-3 and H = 32 that is 3.8 nats against the others; a trainer that gets the
signal spends nearly all of it in one direction. A gain of `LEARNT_NATS` = 2 in log-odds, half of the budget, is right;
`NOISE_NATS` = 0.5 is what a random walk of the same steps does (0.096 nats x sqrt(40) = 0.6 at most). In between a
second training with three times the steps on another seed decides. A policy that is already sure (0.8) is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...finding import Component, Link
from .model import Policy
from .task import TokenTask

LEARNT_NATS = 2.0
NOISE_NATS = 0.5
SURE = 0.8

State = Literal["right", "approaching", "wrong"]
Reader = Callable[[Policy, Policy, TokenTask], Mapping[str, float]]
"""(trained policy, policy at the start, task) -> numbers."""


@dataclass(frozen=True)
class Mistake:
    """The mistake that an answer belongs to."""

    says: str
    component: Component | None = None
    link: Link | None = None


@dataclass(frozen=True)
class TokenRung:
    """One rung of the ladder for language models."""

    name: str
    adds: str
    """The part of the trainer that this rung adds to those below."""
    task: Callable[[], TokenTask]
    read: Reader
    state: Callable[[Mapping[str, float]], State]
    mistake: Callable[[Sequence[Mapping[str, float]]], Mistake]
    """What the numbers of all tries say of the mistake, the last one longest."""
    expected: str
    shows: str
    """The number that the report prints, a key of what `read` returns."""
    needs: tuple[str, ...] = ()
    """Rungs that must be passed first."""
    effort: float = 1.0
    """Steps over those of the first rung."""
    wants_beta: bool = False
    """Whether the trainer must take a KL weight."""


def log_odds_gain(now: float, then: float) -> float:
    """How far the log-odds of a probability rose, in nats."""
    import math

    def odds(p: float) -> float:
        p = min(max(p, 1e-6), 1 - 1e-6)
        return math.log(p / (1 - p))

    return odds(now) - odds(then)


def by_gain(numbers: Mapping[str, float]) -> State:
    """Judge a rung whose answer is the gain in log-odds of what is rewarded."""
    if numbers["gain"] >= LEARNT_NATS or (numbers["p"] >= SURE and numbers["gain"] > -NOISE_NATS):
        return "right"
    return "wrong" if numbers["gain"] < -NOISE_NATS else "approaching"


def stuck_or_backwards(numbers: Sequence[Mapping[str, float]], still: Mistake) -> Mistake:
    """A fallen log-odds is a lost sign; otherwise `still`."""
    if numbers[-1]["gain"] < -NOISE_NATS:
        return Mistake("what is rewarded becomes less likely: a sign is lost", Component.LOSS, Link.POLICY_UPDATE)
    return still
