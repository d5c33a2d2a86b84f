"""The rule `foreseen-now-and-then`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import weights_thrown
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import quantile
from firstbreak.view import RunView

PREDICTED = "env/predicted_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `foreseen-now-and-then`. Engineering defaults where no source is named."""

    early: int = 8
    """First rows, in which the model of the world learns."""
    rows: int = 8
    """Rows after those that say what is usual: the shortest stretch with a stated error."""
    followed: float = 0.98
    """Share of the next observation that the lowest tenth of those rows foresaw: a world that is known all but wholly
    has no odd rows of its own."""
    of: int = 10
    """Rows that are looked at together: two episodes, where an episode takes five rows."""
    lost: int = 4
    """How many of them must be foreseen worse than any row before: more than one swing through new states takes."""
    by: float = 0.3
    """How much worse. In the fault benchmark (corpus of 2026-11-26) 0.20 is the most of 869 runs without a fault, in
    worlds that a curriculum changes; actions that are swapped in half of the episodes come to 0.42 and more in four of
    five runs."""


PPO = synth.like("PPO")
KNOWN = synth.clipped(synth.flat(0.995, 0.002), -1, 1)
BY_TURNS = (0.6, 0.62, 0.64, 0.66, 0.68, 0.7, 0.72)
CASES = (
    fires(
        "actions are mirrored in every other episode",
        lambda: PPO({PREDICTED: synth.clipped(synth.spikes(0.995, 0.45, BY_TURNS, noise=0.002), -1, 1)}),
    ),
    healthy("the same world throughout", lambda: PPO({PREDICTED: KNOWN})),
    near_miss(
        "three odd rows in ten",
        lambda: PPO({PREDICTED: synth.clipped(synth.spikes(0.995, 0.45, (0.6, 0.62, 0.64), noise=0.002), -1, 1)}),
    ),
    near_miss(
        "a world that is half understood",
        lambda: PPO({PREDICTED: synth.clipped(synth.spikes(0.8, 0.45, BY_TURNS, noise=0.1), -1, 1)}),
    ),
    near_miss(
        "a little is lost",
        lambda: PPO({PREDICTED: synth.clipped(synth.spikes(0.995, 0.85, BY_TURNS, noise=0.002), -1, 1)}),
    ),
    near_miss(
        "a curriculum",
        lambda: PPO(
            {
                PREDICTED: synth.clipped(synth.spikes(0.995, 0.45, BY_TURNS, noise=0.002), -1, 1),
                "env/curriculum@level": synth.ramp(0, 9, 0.0, begin=0.5),
            }
        ),
    ),
    near_miss(
        "weights were thrown about, and the policy with them",
        lambda: PPO(
            {
                PREDICTED: synth.clipped(synth.spikes(0.995, 0.45, BY_TURNS, noise=0.002), -1, 1),
                "optim/outside_change_frac": synth.spikes(0.0, 0.6, (0.595,)),
            }
        ),
    ),
)


@rule(
    "ENV101",
    "foreseen-now-and-then",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    needs=(PREDICTED,),
    min_points=26,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "return-falls-at-once",
        "explained-variance-collapse",
        "value-loss-explosion",
        "critic-not-learning",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The next observation, which was foreseen all but wholly, is so in some rows only.

    What it means:
        A model learned from all earlier steps foresaw next to everything, row after row. Now rows in which much is
        missed stand beside others in which all goes as before: part of the episodes, or of the copies, follow other
        laws.

    Why it matters:
        Policy and critic learn from two worlds at once, and the average of them is neither.

    Usual causes:
        Actions that are mirrored, swapped or dropped in some episodes; one copy of many that is built otherwise; a
        sensor that fails at times.

    What to try:
        Play the same actions from the same seed in each copy, and in ten episodes on end, and compare observations.

    When it is harmless:
        Domain randomisation or other levels that you switched on yourself: log `env/curriculum`.

    References:
        Ljung 1999, "System Identification", section 11.2 (prediction errors of a model that is fitted on the way).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the world")
    points = view.get(PREDICTED)
    assert points is not None
    value = points.value
    least = np.minimum.accumulate(value[params.early :])
    for place in range(params.early + params.rows, value.size - params.of + 1):
        floor = float(least[place - params.early - 1]) - params.by
        now = value[place : place + params.of]
        if value[place] > floor or np.count_nonzero(now <= floor) < params.lost:
            continue
        usual = quantile(value[params.early : place], 0.1)
        if usual < params.followed or weights_thrown(view, float(points.step[place])):
            continue
        worst = float(np.sort(now)[params.lost - 1])
        return Detection(
            message=f"in {params.lost} of {params.of} rows {max(worst, 0):.0%} or less is foreseen, {usual:.0%} before",
            onset=view.onset(float(points.step[place - 1]), float(points.step[place])),
            metric=PREDICTED,
            evidence={"predicted_frac": worst, "usual_frac": usual, "least_before": floor + params.by},
        )
    return None
