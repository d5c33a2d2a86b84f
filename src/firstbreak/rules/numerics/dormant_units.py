"""The rule `dormant-units`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median, persistent_onset
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `dormant-units`: engineering defaults, except where a source is named."""

    most: float = 0.5
    """Share of dormant units. Sokar et al. 2023 (arXiv 2302.12902, section 4) see performance fall as it passes a
    half."""
    rise: float = 0.1
    """Least rise along the fitted line."""
    z: float = 4.0
    """z of the slope."""


DQN = synth.like("DQN", clock="env_steps", step=500.0, config={"learning_starts": 10_000, "total_steps": 60_000})

CASES = (
    fires("units fall asleep", lambda: DQN({"net/dormant_fraction": synth.clipped(synth.ramp(0.05, 0.8), 0, 1)})),
    healthy("few", lambda: DQN({"net/dormant_fraction": synth.clipped(synth.flat(0.05, 0.2), 0, 1)})),
    near_miss(
        "sparse from the start", lambda: DQN({"net/dormant_fraction": synth.clipped(synth.flat(0.6, 0.02), 0, 1)})
    ),
)


@rule(
    "NUM008",
    "dormant-units",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=("net/dormant_fraction",),
    min_points=30,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("feature-rank-collapse", "reward-flat", "return-collapse", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """More and more units of the network are dormant.

    What it means:
        Over half of the units hardly ever respond, and the share keeps rising.

    Why it matters:
        The network loses the capacity to fit new targets.

    Usual causes:
        Many updates per step on moving targets; learning rate too high; no normalisation.

    What to try:
        Fit random targets with this network and a fresh one; then layer normalisation, fewer updates, resets.

    When it is harmless:
        Sparse features that wake in other states: measure on a broad batch.

    References:
        Sokar et al. 2023, arXiv 2302.12902.
    """
    dormant = view.get("net/dormant_fraction")
    assert dormant is not None
    trend = linear_trend(dormant.step, dormant.value)
    recent = median(dormant.value[-8:])
    if recent <= params.most or trend.change < params.rise or trend.z < params.z:
        return None
    over = persistent_onset(dormant.step, dormant.value > params.most, 3) or (
        float(dormant.step[0]),
        float(dormant.step[-1]),
    )
    return Detection(
        message=f"{recent:.0%} of the units are dormant, up from {opening(dormant.value):.0%}",
        onset=view.onset(*over),
        metric=dormant.metric,
        evidence={"dormant_frac": recent, "z": trend.z},
    )
