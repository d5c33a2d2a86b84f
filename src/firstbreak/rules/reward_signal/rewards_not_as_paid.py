"""The rule `rewards-not-as-paid`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import identity_broken, median
from firstbreak.view import Points, RunView

FIT, COPY, SPREAD = "data/reward_fit", "data/reward_copy_fit", "reward/env_std"


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
    far: float = 0.5
    """Share at which one row is enough: no chance breaks an identity of dozens of steps so far."""


PPO = synth.like("PPO")
EXACT = synth.clipped(synth.flat(1.0, 1e-7), 0, 1)
CASES = (
    fires(
        "each step keeps the reward of the step before, from the middle on",
        lambda: PPO({FIT: synth.after(0.6, synth.clipped(synth.flat(0.2, 0.05), 0, 1), EXACT)}),
    ),
    fires(
        "one copy of eight, which have a normaliser each",
        lambda: PPO(
            {
                FIT: synth.clipped(synth.flat(0.9, 0.05), 0, 0.98),
                COPY: synth.after(0.6, synth.clipped(synth.flat(0.2, 0.05), 0, 1), EXACT),
            }
        ),
    ),
    healthy("as it should be", lambda: PPO({FIT: EXACT})),
    healthy(
        "copies with a normaliser each",
        lambda: PPO({FIT: synth.clipped(synth.flat(0.9, 0.05), 0, 0.98), COPY: EXACT}),
    ),
    near_miss("one row of one copy", lambda: PPO({FIT: EXACT, COPY: synth.spikes(1.0, 0.4, (0.6,), 0.0)})),
    near_miss(
        "a wrapper that shapes rewards from the start", lambda: PPO({FIT: synth.clipped(synth.flat(0.4, 0.1), 0, 1)})
    ),
    near_miss(
        "a row in which the environment paid the same throughout, and a normaliser did not",
        lambda: PPO({FIT: synth.spikes(1.0, 0.0, (0.6,), 0.0), SPREAD: synth.spikes(1.0, 0.0, (0.6,), 0.0)}),
    ),
    near_miss("one odd row", lambda: PPO({FIT: synth.spikes(1.0, 0.7, (0.6,), 0.0)})),
)


@rule(
    "RWD111",
    "rewards-not-as-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    any_of=((FIT, COPY),),
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
        scale and an offset. From one row on it does not, though the environment is asked as before. Copies that have a
        normaliser each are asked one by one, and the worst counts.

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
    return parted(view, FIT, params) or parted(view, COPY, params)


def parted(view: RunView, name: str, params: Params) -> Detection | None:
    """Answer for all copies together (`FIT`), or for the worst of them (`COPY`)."""
    points = view.get(name)
    if points is None:
        return None
    step, value = told(points, view.get(SPREAD))
    right = value >= params.right
    onset = identity_broken(step, right, value <= params.off, held=params.held, lasts=params.lasts)
    at_once = identity_broken(step, right, value <= params.far, held=params.held, lasts=1)
    known = (onset, at_once) if name == FIT else (onset,)
    onset = min((one for one in known if one is not None), default=None)
    if onset is None:
        return None
    now = median(value[step >= onset[1]])
    whose = "" if name == FIT else " of one copy"
    return Detection(
        message=f"stored rewards{whose} share {now:.0%} of their variance with those that were paid; it was all",
        onset=view.onset(*onset),
        metric=name,
        evidence={"shared_frac": now},
    )


def told(points: Points, spread: Points | None) -> tuple[Floats, Floats]:
    """Return steps and shares of the rows in which the environment's rewards differ: else there is nothing to share."""
    if spread is None or not len(spread):
        return points.step, points.value
    # Rows of the world, up to each of these, in which rewards differed.
    differ = np.concatenate([[0], np.cumsum(spread.value > 0)])[np.searchsorted(spread.step, points.step, side="right")]
    kept = (points.value != 0) | (np.diff(differ, prepend=0) > 0)
    return points.step[kept], points.value[kept]
