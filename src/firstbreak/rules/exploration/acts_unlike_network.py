"""The rule `acts-unlike-network`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

EXCESS, BEYOND = "exploration/unlike_greedy_excess", "exploration/unlike_greedy_nats"
DRAWS = "exploration/draws_unlike_nats"


@dataclass(frozen=True)
class Params:
    """Thresholds of `acts-unlike-network`; engineering defaults."""

    plain: float = 0.35
    """Excess of actions that are not the network's, in each of `lasts` rows. Eight looks at a policy that is random
    throughout scatter by 0.18."""
    lasts: int = 3
    """Rows in a row that must show it."""
    mean: float = 0.2
    """The same as a mean over `rows` rows, which scatters by 0.04."""
    rows: int = 16
    """Rows of the mean."""
    certain: float = 20.0
    """Nats by which so many such actions are beyond what epsilon sets: at odds of exp(-20) one row is enough. Of a
    million looks 1 % of runs have one by chance."""
    drawn: float = 24.0
    """The same of what is drawn around the network's actions: chance takes exp(24) draws to come to it."""


DQN, SAC = synth.like("DQN"), synth.like("SAC")
CASES = (
    fires("another network acts from the middle on", lambda: DQN({EXCESS: synth.jump(0.0, 0.5, noise=0.05)})),
    fires(
        "noise on its weights grows",
        lambda: DQN({EXCESS: synth.after(0.5, synth.ramp(0.0, 0.3, 0.05), synth.flat(0.0, 0.05))}),
    ),
    fires("a coin is turned: ten looks were enough", lambda: DQN({BEYOND: synth.jump(1.0, 24.0, 0.98, 0.0)})),
    fires("noise that adds up", lambda: SAC({DRAWS: synth.jump(2.0, 26.0, 0.98, 0.1)})),
    near_miss("draws of an unlikely streak", lambda: SAC({DRAWS: synth.spikes(2.0, 11.0, (0.3, 0.6), 0.1)})),
    near_miss("an unlikely streak", lambda: DQN({BEYOND: synth.spikes(1.0, 9.0, (0.3, 0.6), 0.1)})),
    healthy("greedy but for epsilon", lambda: DQN({EXCESS: synth.flat(0.0, 0.05)})),
    near_miss("random at the start: what is counted scatters", lambda: DQN({EXCESS: synth.flat(0.0, 0.15)})),
)


@rule(
    "EXP057",
    "acts-unlike-network",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    any_of=((EXCESS, BEYOND, DRAWS),),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "return-collapse",
        "return-falls-at-once",
        "smooth-decline",
        "greedy-below-random",
        "return-leaves-range",
        "action-noise-off",
        "action-saturation",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """What acts is not the network that is trained: actions differ from its own as no exploration makes them.

    What it means:
        At some steps the action that was done was held against the network's in the same state, with the weights it had
        at that step. Of greedy actions epsilon says how often they differ: far more did in several rows, or so many of
        the newest ones that chance would not have it. Of a policy's draws, and of noise around an actor's, spread and
        mean are known: the newest were wider, narrower or to one side as chance would not have it.

    Why it matters:
        Data come from another policy, and returns tell of that one.

    Usual causes:
        A comparison with epsilon that was turned; noise on the weights of who plays; noise that adds up and is never
        reset; a copy of the network that is not refreshed; a wrapper that changes or delays actions; an observation
        that is normalised for one of both only; draws of a generator that is seeded anew at each step.

    What to try:
        In one state, print the network's values or mean, its best action, the action that is returned and epsilon.

    When it is harmless:
        Exploration of another kind that was put in on purpose.

    References:
        None; it is counted. Page 1954, Biometrika 41 (sums of log-likelihood ratios).
    """
    greedy = at_odds(view, BEYOND, params.certain, "more actions than epsilon allows are not the network's")
    drawn = at_odds(view, DRAWS, params.drawn, "actions are no draws of the policy, or of its noise")
    return greedy or drawn or too_many(view, params)


def at_odds(view: RunView, metric: str, certain: float, text: str) -> Answer:
    """Say so where the newest actions are not the network's as chance would not have it."""
    points = view.get(metric)
    if points is None or points.max < certain:
        return None
    high = np.flatnonzero(points.value >= certain)
    place = int(high[0])
    now = float(points.value[place])
    return Detection(
        message=f"{text}: by chance once in {np.exp(min(now, 99)):.0e}",
        onset=view.onset(float(points.step[max(0, place - 1)]), float(points.step[place])),
        metric=metric,
        evidence={"nats": now},
    )


def too_many(view: RunView, params: Params) -> Answer:
    """Say so where the share of actions that are not the network's is beyond what epsilon allows, row by row."""
    points = view.get(EXCESS)
    if points is None:
        return None
    onset = persistent_onset(points.step, points.value >= params.plain, params.lasts)
    place = None if onset is not None else lasting(points.value, params)
    if place is not None:
        onset = float(points.step[max(0, place - params.rows)]), float(points.step[place])
    if onset is None:
        return None
    now = float(np.mean(points.value[points.step >= onset[0]]))
    return Detection(
        message=f"{now:.0%} of actions, beyond what epsilon allows, are not the network's",
        onset=view.onset(*onset),
        metric=EXCESS,
        evidence={"excess_frac": now},
    )


def lasting(value: Floats, params: Params) -> int | None:
    """Return the last row of the first stretch of rows whose mean is too large."""
    if value.size < params.rows:
        return None
    means = np.convolve(value, np.full(params.rows, 1 / params.rows), "valid")
    high = np.flatnonzero(means >= params.mean)
    return int(high[0]) + params.rows - 1 if high.size else None
