"""The rule `values-not-the-critics`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import identity_broken, median
from firstbreak.view import RunView

RESIDUAL, RATIO = "critic/value_residual", "policy/ratio_first_minibatch"


@dataclass(frozen=True)
class Params:
    """Thresholds of `values-not-the-critics`: engineering defaults; right is 0 by construction."""

    right: float = 1e-3
    """What rounding may leave, in spreads of the values."""
    off: float = 0.05
    """Residual from which on they are other values, in the same unit."""
    alike: float = 1e-3
    """How far the first ratio may be from 1: else the policy fails on the rollout too, and its observations or the
    weights are others."""
    held: int = 8
    """Rows on end in which they were the critic's."""
    lasts: int = 2
    """Rows on end in which they are not."""
    far: float = 0.5
    """Residual at which one row is enough, in spreads of the values."""


PPO = synth.like("PPO")
EXACT = synth.clipped(synth.flat(1e-6, 0.5), 0, 1)
OFF, ONE = synth.after(0.6, synth.flat(0.8, 0.1), EXACT), synth.flat(1.0, 1e-6)
CASES = (
    fires("values of the rollout before, from the middle on", lambda: PPO({RESIDUAL: OFF, RATIO: ONE})),
    healthy("rounding", lambda: PPO({RESIDUAL: EXACT, RATIO: ONE})),
    near_miss("other from the start: values of a network apart", lambda: PPO({RESIDUAL: synth.flat(0.8, 0.1)})),
    near_miss(
        "the policy fails as well", lambda: PPO({RESIDUAL: OFF, RATIO: synth.after(0.6, synth.flat(0.8, 0.05), ONE)})
    ),
)


@rule(
    "CRT056",
    "values-not-the-critics",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    needs=(RESIDUAL,),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=(
        "smooth-decline",
        "return-collapse",
        "reward-flat",
        "explained-variance-collapse",
        "critic-fit-lost",
        "critic-moves-at-once",
        "advantages-not-by-reward",
        "advantages-not-gae",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The values stored with a rollout are not those that the critic gives to its observations.

    What it means:
        Between a rollout and its update no weight moves, so that the critic, asked again, answers what was stored. From
        one row on it does not, while the policy's probabilities are the stored ones.

    Why it matters:
        Advantages are made of the stored values: a value of another step or time turns praise into blame.

    Usual causes:
        Values of the rollout before; a column shifted by a step; a critic that is read from a copy that lags.

    What to try:
        For one rollout, compute the values of the stored observations and print both columns.

    When it is harmless:
        A critic with dropout, or values that are scaled by plan from here on.

    References:
        None; the rule compares two quantities that are equal by construction.
    """
    points, ratio = view.get(RESIDUAL), view.get(RATIO)
    assert points is not None
    step, right = points.step, points.value <= params.right
    onset = identity_broken(step, right, points.value >= params.off, held=params.held, lasts=params.lasts)
    at_once = identity_broken(step, right, points.value >= params.far, held=params.held, lasts=1)
    onset = min((one for one in (onset, at_once) if one is not None), default=None)
    if onset is None:
        return None
    if ratio is not None and (abs(ratio.value[ratio.step >= onset[1]] - 1) > params.alike).any():
        return None
    now = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"stored values are {now:.2g} of their spread from what the critic answers; they were its own",
        onset=view.onset(*onset),
        metric=RESIDUAL,
        evidence={"residual": now},
    )
