"""The rule `weight-norm-growth`."""

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
    """Thresholds of `weight-norm-growth`: engineering defaults, except where a source is named."""

    some: float = 3.0
    """Newest norm of the weights over the opening worth a note. Engineering default."""
    much: float = 10.0
    """Factor at which updates have become a tenth as large in relation."""
    z: float = 4.0
    """z of the slope."""


PPO = synth.like("PPO")

CASES = (
    fires("grows twentyfold", lambda: PPO({"net/weight_norm": synth.geometric(10, 200, 0.01)})),
    healthy("steady", lambda: PPO({"net/weight_norm": synth.flat(10, 0.01)})),
    near_miss("doubles", lambda: PPO({"net/weight_norm": synth.geometric(10, 20, 0.01)})),
)


@rule(
    "NUM010",
    "weight-norm-growth",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.INFO,
    needs=("net/weight_norm",),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("dormant-units", "feature-rank-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The norm of the weights keeps growing.

    What it means:
        Weights are several times as large as at the start, along a clear trend.

    Why it matters:
        The same step changes the network less and less, and activations saturate.

    Usual causes:
        Long runs without weight decay or normalisation; diverging targets.

    What to try:
        Weight decay or layer normalisation; look at the ratio of update to weight.

    When it is harmless:
        Growth from a tiny start that levels off.

    References:
        Lyle et al. 2023, arXiv 2303.01486.
    """
    norm = view.get("net/weight_norm")
    assert norm is not None
    start, recent = opening(norm.value), median(norm.value[-8:])
    trend = linear_trend(norm.step, norm.value)
    if start <= 0 or recent < params.some * start or trend.z < params.z:
        return None
    over = persistent_onset(norm.step, norm.value >= params.some * start, 3) or (
        float(norm.step[0]),
        float(norm.step[-1]),
    )
    return Detection(
        message=f"Weights grew {recent / start:.3g}-fold, from a norm of {start:.3g} to {recent:.3g}",
        onset=view.onset(*over),
        metric=norm.metric,
        evidence={"opening": start, "recent": recent},
        severity=Severity.WARNING if recent >= params.much * start else None,
    )
