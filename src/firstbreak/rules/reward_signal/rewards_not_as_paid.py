"""The rule `rewards-not-as-paid`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import identity_broken, median
from firstbreak.view import RunView

FIT = "data/reward_fit"


@dataclass(frozen=True)
class Params:
    """Thresholds of `rewards-not-as-paid`: engineering defaults; right is 1 by construction."""

    right: float = 0.99
    """What the share must be before: all but rounding, and what a normaliser cuts off."""
    off: float = 0.9
    """Share from which on it is broken. Those of other steps have what they share by chance."""
    held: int = 8
    """Rows on end in which it was right: where a wrapper changes it by design, nothing is said."""
    lasts: int = 2
    """Rows on end in which it is broken."""


PPO = synth.like("PPO")
EXACT = synth.clipped(synth.flat(1.0, 1e-7), 0, 1)
CASES = (
    fires(
        "each step keeps the reward of the step before, from the middle on",
        lambda: PPO({FIT: synth.after(0.6, synth.clipped(synth.flat(0.2, 0.05), 0, 1), EXACT)}),
    ),
    healthy("as it should be", lambda: PPO({FIT: EXACT})),
    near_miss(
        "a wrapper that shapes rewards from the start", lambda: PPO({FIT: synth.clipped(synth.flat(0.4, 0.1), 0, 1)})
    ),
    near_miss("one odd row", lambda: PPO({FIT: synth.spikes(1.0, 0.3, (0.6,), 0.0)})),
)


@rule(
    "RWD111",
    "rewards-not-as-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(FIT,),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=(
        "smooth-decline",
        "return-collapse",
        "reward-flat",
        "explained-variance-collapse",
        "critic-moves-at-once",
        "reward-moves-at-once",
        "value-loss-explosion",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The rewards that are learnt from are no longer those that the environment paid at the same steps.

    What it means:
        Step by step, what the rollout or the replay buffer holds followed from what the environment gave, but for a
        scale and an offset. From one row on it does not, though the environment is asked as before.

    Why it matters:
        Every action is credited with what another one earned: returns that are logged stay true and tell nothing.

    Usual causes:
        A column that is shifted by a step, shuffled or filled late; a wrapper that sums, holds back or swaps rewards;
        a reward that is cut off or rounded on the way; two buffers that change places.

    What to try:
        Print, for twenty steps, the reward that `step` returned beside the one that is stored.

    When it is harmless:
        A reward that is shaped by plan from here on.

    References:
        None; the rule compares two quantities that are equal by construction.
    """
    points = view.get(FIT)
    assert points is not None
    onset = identity_broken(
        points.step, points.value >= params.right, points.value <= params.off, held=params.held, lasts=params.lasts
    )
    if onset is None:
        return None
    now = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"stored rewards share {now:.0%} of their variance with those that the environment paid; it was all",
        onset=view.onset(*onset),
        metric=FIT,
        evidence={"shared_frac": now},
    )
