"""The rule `priority-blow-up`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median, persistent_onset, safe_log
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `priority-blow-up`: engineering defaults, except where a source is named."""

    factor: float = 100.0
    """Newest largest priority over the opening. Engineering default."""
    z: float = 4.0
    """z of the slope of its logarithm."""


DQN = synth.like("DQN", clock="env_steps", step=500.0, config={"learning_starts": 10_000, "total_steps": 60_000})

CASES = (
    fires("priorities explode", lambda: DQN({"replay/priority_max": synth.geometric(1.0, 5e4)})),
    healthy("priorities steady", lambda: DQN({"replay/priority_max": synth.flat(1.0, 0.1)})),
    near_miss("priorities grow tenfold", lambda: DQN({"replay/priority_max": synth.geometric(1.0, 10.0)})),
)


@rule(
    "DAT011",
    "priority-blow-up",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("replay/priority_max",),
    when=("replay",),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("value-loss-explosion",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The largest replay priority grows without bound.

    What it means:
        The largest priority has grown a hundredfold along a clear trend.

    Why it matters:
        A few transitions are replayed again and again, and importance weights of the rest go to 0.

    Usual causes:
        TD errors diverge; priorities are never refreshed or clipped; outliers of the reward.

    What to try:
        Clip TD errors for priorities; anneal the importance exponent to 1; look at the largest rewards.

    When it is harmless:
        Where the reward scale itself grows as much.

    References:
        Schaul et al. 2016, arXiv 1511.05952, section 3.4.
    """
    largest = view.get("replay/priority_max")
    assert largest is not None
    start, recent = opening(largest.value), median(largest.value[-8:])
    trend = linear_trend(largest.step, safe_log(largest.value))
    if start <= 0 or recent < params.factor * start or trend.z < params.z:
        return None
    over = persistent_onset(largest.step, largest.value >= params.factor**0.5 * start, 3)
    return Detection(
        message=f"Largest priority grew {recent / start:.3g}-fold to {recent:.3g}",
        onset=view.onset(*(over or (float(largest.step[0]), float(largest.step[-1])))),
        metric=largest.metric,
        evidence={"recent": recent, "opening": start},
    )
