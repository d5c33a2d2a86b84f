"""The rule `dynamics-off-to-one-side`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import weights_thrown
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats.change import least_of
from firstbreak.view import RunView

BIAS = "env/dynamics_bias"


@dataclass(frozen=True)
class Params:
    """Thresholds of `dynamics-off-to-one-side`."""

    times: float = 3.5
    """Times the largest mean error before that each row must come to. Calibrated on 34 healthy trainings (2026-11-26),
    of which no two rows on end came to 1.7, and policies that turn into another at once: 2.7 at most, of eight tasks.
    Friction that is half as large again came to 4.0, one of four actions that does nothing to 8."""
    rows: int = 2
    """Rows on end. Engineering default: both are held against the rows before the first (`exchange/bias.py`)."""


PPO = synth.like("PPO")
USUAL = synth.clipped(synth.flat(0.3, 0.1), 0, 9)
CASES = (
    fires("a load that is another one now", lambda: PPO({BIAS: synth.after(0.6, synth.flat(4.5, 0.1), USUAL)})),
    healthy("errors of both signs", lambda: PPO({BIAS: USUAL})),
    near_miss("one row", lambda: PPO({BIAS: synth.spikes(0.3, 5.0, (0.6,), 0.05)})),
    near_miss("a policy that goes to new states", lambda: PPO({BIAS: synth.after(0.6, synth.flat(1.4, 0.1), USUAL)})),
    near_miss(
        "weights were thrown about, and the policy with them",
        lambda: PPO(
            {
                BIAS: synth.after(0.6, synth.after(0.62, USUAL, synth.flat(4.5, 0.1)), USUAL),
                "net/weight_norm": synth.after(0.6, synth.flat(90.0, 0.001), synth.flat(20.0, 0.001)),
            }
        ),
    ),
)


@rule(
    "ENV143",
    "dynamics-off-to-one-side",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    needs=(BIAS,),
    min_points=2,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "return-falls-at-once",
        "dynamics-changed",
        "action-response-changed",
        "environment-moves-at-once",
        "environment-leaves-past",
        "world-slips-away",
        "explained-variance-collapse",
        "value-loss-explosion",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """What follows from observation and action lies to one side of what was learned, further than it ever did.

    What it means:
        A model that follows the run misses the next observation by a little in each step. The mean of these errors over
        a row is small as long as the world is the same; now it is, row after row, several times the largest before, in
        states where the model has been.

    Why it matters:
        What the policy and the critic have learned is true of another world.

    Usual causes:
        Friction, load, gravity or another constant of a simulator that changed; an actuator that does nothing or less;
        a sensor with an offset; a copy with other settings.

    What to try:
        Play the same actions from the same state before and after the change and compare the observations.

    When it is harmless:
        Levels or randomisation that you switched on yourself: log `env/curriculum`.

    References:
        Page 1954, doi:10.1093/biomet/41.1-2.100, on what a mean shows that single values do not.
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    points = view.get(BIAS)
    assert points is not None
    if len(points) < params.rows:
        return None
    least = least_of(points.value, params.rows)
    for place in np.flatnonzero(least >= params.times).tolist():
        at = float(points.step[place])
        if weights_thrown(view, at):
            continue
        return Detection(
            message=f"what follows is off to one side by {least[place]:.1f} times as much as ever before",
            onset=view.onset(float(points.step[max(place - 1, 0)]), at),
            metric=BIAS,
            evidence={"times": float(least[place])},
        )
    return None
