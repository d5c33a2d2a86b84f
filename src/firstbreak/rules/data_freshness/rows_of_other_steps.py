"""The rule `rows-of-other-steps`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import identity_broken
from firstbreak.view import RunView

OBS, ACTION, REWARD = "data/obs_fit", "data/action_fit", "data/reward_fit"


@dataclass(frozen=True)
class Params:
    """Thresholds of `rows-of-other-steps`: engineering defaults; right is 1 by construction.

    Of all recorded runs (2026-11-27) one shows it, whose trainer was served one rollout again; of 742 healthy ones and
    twins none.
    """

    right: float = 0.99
    """What each share must be before: all but rounding, and what a normaliser cuts off."""
    off: float = 0.5
    """Share up to which each of them is broken."""
    held: int = 8
    """Rows on end in which all were right."""
    rows: int = 1
    """Rows that must show it: three identities of dozens of steps do not break together by chance."""


PPO = synth.like("PPO")
RIGHT = synth.clipped(synth.flat(1.0, 1e-7), 0, 1)
WRONG = synth.after(0.6, synth.clipped(synth.flat(0.1, 0.05), 0, 1), RIGHT)
CASES = (
    fires("a rollout is served again", lambda: PPO({OBS: WRONG, ACTION: WRONG, REWARD: WRONG})),
    healthy("what was taken down is learnt from", lambda: PPO({OBS: RIGHT, ACTION: RIGHT, REWARD: RIGHT})),
    near_miss("observations are altered on the way", lambda: PPO({OBS: WRONG, ACTION: RIGHT, REWARD: RIGHT})),
    near_miss("rewards and actions of other copies", lambda: PPO({OBS: RIGHT, ACTION: WRONG, REWARD: WRONG})),
    near_miss(
        "never was right",
        lambda: PPO(dict.fromkeys((OBS, ACTION, REWARD), synth.clipped(synth.flat(0.1, 0.05), 0, 1))),
    ),
)


@rule(
    "DAT090",
    "rows-of-other-steps",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(OBS, ACTION, REWARD),
    min_points=9,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "observations-not-as-given",
        "actions-not-as-stored",
        "rewards-not-as-paid",
        "ends-not-stored",
        "scale-changed-on-the-way",
        "ratio-off-at-first-minibatch",
        "rollout-of-other-states",
        "replay-chain-broken",
        "kl-overshoot",
        "explained-variance-collapse",
        "critic-moves-at-once",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """What is learnt from is not what was just collected: whole rows are those of other steps.

    What it means:
        Observations, actions and rewards that were learnt from were all those that the environment gave and got at the
        same steps. From one row on none of the three is.

    Why it matters:
        What the policy does now is thrown away, and the gradient is of something older, or of another run.

    Usual causes:
        A queue, cache or buffer that hands out an old rollout; an index that no longer moves; two buffers that are
        exchanged; a worker whose steps are not those that are counted.

    What to try:
        Count rollouts where they are collected, and log the number of the one that an update is made of.

    When it is harmless:
        Where a change to a replay of older rollouts is by intent.

    References:
        None; the rule compares quantities that are equal by construction.
    """
    series = [points for name in (OBS, ACTION, REWARD) if (points := view.get(name)) is not None]
    step = reduce(np.intersect1d, [points.step for points in series])
    if step.size <= params.held:
        return Skip("too few rows that hold all three")
    shares = np.array([points.value[np.isin(points.step, step)] for points in series])
    right, off = np.logical_and.reduce(shares >= params.right), np.logical_and.reduce(shares <= params.off)
    onset = identity_broken(step, right, off, held=params.held, lasts=params.rows)
    if onset is None:
        return None
    most = float(shares[:, step == onset[1]].max())
    return Detection(
        message=f"observations, actions and rewards share at most {most:.0%} of their variance with what was collected",
        onset=view.onset(*onset),
        metric=OBS,
        evidence={"most_shared_frac": most},
    )
