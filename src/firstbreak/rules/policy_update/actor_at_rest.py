"""The rule `actor-at-rest`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.exploration.temperature_dominates import reward_size
from firstbreak.view import Points, RunView

STD = "policy/action_std"
LR = "optim/lr"
ALPHA = "sac/alpha"
WIDEST = (0.8, 0.95)
"""Spreads before squashing at which the entropy of tanh of a Gaussian around 0 is within 0.01 nats of its largest,
0.684 at 0.87 (Gauss-Hermite quadrature): there a temperature that outweighs all else holds a sound actor."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `actor-at-rest`."""

    alike: float = 0.015
    """Distance from the newest value, as a share of it, within which the spread of actions is the same. Batches of 64
    to 256 states scatter by 0.2 to 1 % under one and the same actor. Engineering default."""
    rows: int = 20
    """Latest rows that must be alike. Engineering default: in ten sound SAC runs of the fault benchmark's development
    half the longest such stretch was 6 rows."""
    lr_share: float = 0.01
    """A learning rate below this share of its peak explains it (end of a schedule). Engineering default."""
    outweighs: float = 0.1
    """Temperature over the size of a step's reward from which on a spread of largest entropy may be a sound actor's:
    what one action adds to the return is a part of that. Engineering default."""


SAC = synth.like("SAC")
LEARNS = synth.walk(0.4, 0.05)
WIDE, HIGH, GONE = synth.flat(0.865, 0.002), synth.flat(2.0, 0.05), synth.geometric(0.6, 1e-3, 0.05)
SMALL = {"reward/env_mean": synth.flat(-0.5, 0.05), "reward/env_std": synth.flat(0.3, 0.05)}
CASES = (
    fires("the actor is not in the optimiser", lambda: SAC({STD: synth.flat(0.225, 0.002)})),
    fires("it stops midway", lambda: SAC({STD: synth.after(0.5, synth.flat(0.3, 0.002), LEARNS)})),
    healthy("it moves", lambda: SAC({STD: LEARNS})),
    near_miss("it hardly changes, yet does", lambda: SAC({STD: synth.walk(0.3, 0.02, rho=0.5)})),
    near_miss(
        "the learning rate is at its end",
        lambda: SAC({STD: synth.flat(0.225, 0.002), LR: synth.ramp(3e-4, 0.0, 0.0, until=0.05)}),
    ),
    near_miss("a large temperature holds it at the largest entropy", lambda: SAC({STD: WIDE, **SMALL, ALPHA: HIGH})),
    fires("as wide, though the temperature has gone", lambda: SAC({STD: WIDE, **SMALL, ALPHA: GONE})),
    near_miss("at its lower bound, where it is clamped", lambda: SAC({STD: synth.constant(0.0067)})),
)


@rule(
    "POL039",
    "actor-at-rest",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(STD,),
    when=("max_entropy",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "alpha-runaway", "alpha-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The actor's spread of actions stays the same from row to row, while critic and temperature go on learning.

    What it means:
        Over the latest rows the mean standard deviation of actions, measured on ever new batches, changes by no more
        than two batches of one and the same actor do.

    Why it matters:
        The critic evaluates a policy that never improves; its loss and values look as in any other run.

    Usual causes:
        The actor's parameters are not in the optimiser, or were replaced after it was built; the actor's loss is
        detached from them; a step that is skipped.

    What to try:
        Compare the actor's weights before and after one update: `firstbreak preflight invariants TRAINER`.

    When it is harmless:
        A learning rate at its end; an actor that is frozen on purpose while a critic warms up. Where the temperature
        outweighs what a step earns, the spread rests where entropy is largest: nobody can tell the two apart then.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, section 5 (the temperature follows the entropy, which follows the
        actor).
    """
    spread, rate = view.get(STD), view.get(LR)
    assert spread is not None
    if rate is not None and len(rate) and rate.last < params.lr_share * rate.max:
        return None
    start = at_rest_since(spread, params)
    if len(spread) - start < params.rows or np.ptp(spread.value[start:]) == 0.0:
        return None  # exactly the same everywhere is a bound, or a constant that was logged
    if WIDEST[0] <= spread.last <= WIDEST[1] and outweighed(view, params):
        return Skip("the temperature holds the spread of actions where entropy is largest", withholds=True)
    return Detection(
        message=f"the spread of actions is {spread.last:.3g} within {params.alike:.1%} in the last "
        f"{len(spread) - start} rows",
        onset=view.onset(float(spread.step[max(start - 1, 0)]), float(spread.step[start])),
        metric=STD,
        evidence={"action_std": spread.last, "rows": len(spread) - start},
    )


def outweighed(view: RunView, params: Params) -> bool:
    """Whether the temperature is no small part of what a step earns, or one of the two is unknown."""
    alpha, size = view.get(ALPHA), reward_size(view)
    if alpha is None or not len(alpha) or size is None:
        return True
    return alpha.last >= params.outweighs * size


def at_rest_since(spread: Points, params: Params) -> int:
    """Return the place from which on all values lie within `alike` of the newest."""
    apart = np.abs(spread.value - spread.last) > params.alike * abs(spread.last)
    return int(np.flatnonzero(apart)[-1]) + 1 if apart.any() else 0
