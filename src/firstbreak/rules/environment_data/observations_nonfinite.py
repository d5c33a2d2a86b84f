"""The rule `observations-nonfinite`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

NONFINITE = "obs/nonfinite_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `observations-nonfinite`. Engineering defaults; a sound environment has none by definition."""

    most: float = 0.0
    """Share of entries that may: none by definition."""
    rows: int = 1
    """Rows that must show it: one reading is enough to spoil weights, or what normalises observations."""


PPO = synth.like("PPO")
CASES = (
    fires("a sensor fails now and then", lambda: PPO({NONFINITE: synth.spikes(0.0, 1.0, (0.5, 0.7), 0.0)})),
    fires("one entry of four from now on", lambda: PPO({NONFINITE: synth.jump(0.0, 0.25, 0.6, 0.0)})),
    healthy("numbers", lambda: PPO({NONFINITE: synth.constant(0.0)})),
    near_miss("what is not there is not a number from the start", lambda: PPO({NONFINITE: synth.constant(0.25)})),
)


@rule(
    "ENV150",
    "observations-nonfinite",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(NONFINITE,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("nonfinite-metric", "crashed-on-nonfinite", "return-collapse", "observation-shift", "q-divergence"),
)
def detect(view: RunView, params: Params) -> Answer:
    """An observation of the environment is not a number, or infinite, as none was before.

    What it means:
        Some entry that the environment returned is NaN or infinite. All entries were numbers in the first row.

    Why it matters:
        One such value goes through the network into actions and targets, and from a replay buffer or a running
        normaliser into all later ones: weights are lost within an update.

    Usual causes:
        A sensor or ray that hits nothing; a division by a distance, norm or time of 0; a simulator that became
        unstable; a missing value of a data set.

    What to try:
        Stop at the first such observation (`numpy.isfinite`) and print the state and action before it.

    When it is harmless:
        Where policy and normaliser are made for missing values and a level with such values began by plan.

    References:
        None: a fact about the data.
    """
    points = view.get(NONFINITE)
    assert points is not None
    if points.value[0] > params.most:
        return None  # by design, or broken from the start
    onset = persistent_onset(points.step, points.value > params.most, params.rows)
    if onset is None:
        return None
    now = float(points.value[points.step == onset[1]][0])
    return Detection(
        message=f"{now:.0%} of the entries of the observation are not finite numbers at some step",
        onset=view.onset(*onset),
        metric=NONFINITE,
        evidence={"nonfinite_frac": now},
    )
