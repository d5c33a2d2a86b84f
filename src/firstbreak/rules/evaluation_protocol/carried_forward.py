"""The rule `carried-forward`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, from_start
from firstbreak.series import Floats
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `carried-forward`. Engineering defaults where no source is named."""

    repeated: float = 0.7
    """Share of neighbouring rows with exactly the same value."""
    levels: int = 3
    """Different values that the metric must have taken: it does move, in steps."""
    rows: int = 30
    """Rows needed."""


PPO = synth.like("PPO")


def held(t: Floats, rng: np.random.Generator) -> Floats:
    """A return that is measured every eighth row and repeated in between."""
    rise = 20 + 380 * t + 8 * rng.standard_normal(t.size)
    return rise[(np.arange(t.size) // 8) * 8]


CASES = (
    fires("return repeated between episodes", lambda: PPO({"reward/episode_return_mean": held})),
    healthy("new number in every row", lambda: PPO({})),
    near_miss("constant metric", lambda: PPO({"reward/episode_return_mean": synth.constant(9.0)})),
    near_miss(
        "solved: at the ceiling most of the time",
        lambda: PPO({"reward/episode_return_mean": synth.clipped(synth.ramp(20, 2000, 0.02), 0, 500)}),
    ),
)


@rule(
    "EVA011",
    "carried-forward",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.LOGGING,
    severity=Severity.INFO,
    any_of=((*TRAIN, *TRUTH),),
    min_points=30,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """A score repeats its last value between measurements, so it looks flat where nothing was measured.

    What it means:
        Most rows hold exactly the value of the row before, and then it jumps to the next.

    Why it matters:
        Flat stretches and onsets read from such a curve are artefacts of logging; its true spacing is wider.

    Usual causes:
        The last known value is written in every row; evaluations less often than rows; no episode ended.

    What to try:
        Log a metric only when it was measured, with its own step.

    When it is harmless:
        For reading the level; not for timing.

    References:
        Engineering defaults; see the parameters.
    """
    for name in (*TRAIN, *TRUTH):
        points = view.get(name)
        if points is None or len(points) < params.rows:
            continue
        same = np.diff(points.value) == 0
        edge = (points.value[1:] == points.max) | (points.value[1:] == points.min)
        share = float((same & ~edge).mean())
        levels = int(np.unique(points.value).size)
        if share < params.repeated or levels < params.levels:
            continue
        return Detection(
            message=f"{name} repeats the row before in {share:.0%} of the rows ({levels} values)",
            onset=from_start(view, points),
            metric=name,
            evidence={"repeated_frac": share, "different_values": levels, "rows": len(points)},
        )
    return None
