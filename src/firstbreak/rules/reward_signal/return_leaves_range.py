"""The rule `return-leaves-range`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.stats.change import largest_of
from firstbreak.view import RunView

from . import rises

MEANS = ("reward/episode_return_mean", "reward/shaped_return_mean")
SINGLE = ("reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `return-leaves-range`. Engineering defaults where no source is named."""

    rows: int = 16
    """Earlier rows that say what returns there are, those of an untrained policy among them."""
    opening: int = 8
    """First rows, whose median is where the return began; and rows whose median is how far it came."""
    gained: float = 0.5
    """Share of the range that lies between the two: a run that has learned something."""
    beyond: float = 1.0
    """Times that range by which every return now lies below all before. In some 1,300 recorded runs (development half
    and live campaigns, corpus of 2026-11-26) only changed rewards do so, not one policy that was ruined."""
    lasts: int = 3
    """Rows in a row that must show it, single episodes among them."""


PPO = synth.like("PPO")
RETURN, ONE = MEANS[0], SINGLE[0]
LEARNS = synth.ramp(20, 400, 0.03)
CASES = (
    fires(
        "a cost of each step that was not there", lambda: PPO({RETURN: synth.after(0.6, synth.flat(-900, 0.1), LEARNS)})
    ),
    fires(
        "the same, one episode a row",
        lambda: PPO({RETURN: synth.constant(float("nan")), ONE: synth.after(0.6, synth.flat(-900, 0.1), LEARNS)}),
    ),
    healthy("rises", lambda: PPO({})),
    near_miss("worse than untrained", lambda: PPO({RETURN: synth.after(0.6, synth.flat(-200, 0.1), LEARNS)})),
    near_miss("two rows", lambda: PPO({RETURN: synth.spikes(300, -2000, at=(0.597, 0.606), noise=0.05)})),
    near_miss(
        "nothing was learned: the range is chance", lambda: PPO({RETURN: synth.jump(-100, -300, at=0.6, noise=0.1)})
    ),
    near_miss(
        "a curriculum",
        lambda: PPO(
            {RETURN: synth.after(0.6, synth.flat(-900, 0.1), LEARNS), "env/curriculum@level": synth.ramp(0, 9, 0.0)}
        ),
    ),
)


@rule(
    "RWD081",
    "return-leaves-range",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    any_of=((*MEANS, *SINGLE),),
    when=("control",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "return-falls-at-once",
        "explained-variance-negative",
        "explained-variance-collapse",
        "value-loss-explosion",
        "learns-to-fail",
        "return-below-start",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Returns lie as far below all that was ever seen as the best ever lay above it: no policy earned so little.

    What it means:
        The run had seen an untrained policy and one that had learned. From some row on every return is lower than the
        lowest of both, by more than both lay apart.

    Why it matters:
        A policy that is ruined is mostly as bad as one that never learned. One that is far worse at once is paid
        otherwise than before.

    Usual causes:
        A penalty on each step or on actions that is far too large; a sign that turned; a scale that was set anew;
        rewards that are summed twice.

    What to try:
        Score the same saved transitions with the code of before and of now.

    When it is harmless:
        Tasks without a floor, where a ruined policy can lose without end (a fall that costs more the longer it lasts).

    References:
        None; the return is compared with its own range.
    """
    reward = view.get(*MEANS, *SINGLE)
    assert reward is not None
    if any(rises(points) for points in view.family("env/curriculum").values()):
        return Skip("a curriculum changes what returns there are")
    value = reward.value
    if value.size < params.rows + params.lasts:
        return Skip("too few rows to say what returns there are")
    first = value[: params.rows]
    if reward.min >= float(first.min()) - params.beyond * float(np.ptp(first)):
        return None
    lowest, highest = np.minimum.accumulate(value), np.maximum.accumulate(value)
    now = largest_of(value, params.lasts)[params.rows :]
    low, high = (bound[params.rows - 1 :][: now.size] for bound in (lowest, highest))
    size = high - low
    start = median(value[: params.opening])
    found = np.flatnonzero((now < low - params.beyond * size) & (size > 0)) + params.rows
    learned = (
        place
        for place in found.tolist()
        if median(value[place - params.opening : place]) - start >= params.gained * size[place - params.rows]
    )
    place = next(learned, None)
    if place is None:
        return None
    before = float(lowest[place - 1]), float(highest[place - 1])
    return Detection(
        message=f"the return is {value[place]:.4g}; until then it was between {before[0]:.4g} and {before[1]:.4g}",
        onset=view.onset(float(reward.step[place - 1]), float(reward.step[place])),
        metric=reward.metric,
        evidence={"now": float(value[place]), "least_before": before[0], "most_before": before[1]},
    )
