"""The rule `staleness-high`."""

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
    """Thresholds of `staleness-high`: engineering defaults, except where a source is named."""

    absolute: float = 8.0
    """Mean lag in policy versions that needs a word even where no bound is stated; AReaL reports quality loss beyond
    4 to 8 without the decoupled loss (arXiv 2505.24298, table 3)."""
    points: int = 5
    """Consecutive newest points."""
    growth: float = 3.0
    """Newest lag over the opening, where it grows along a clear trend."""


GRPO = synth.like("GRPO")
BOUND = synth.like("GRPO", config={"max_staleness": 4})

CASES = (
    fires("lag beyond the stated bound", lambda: BOUND({"async/staleness_mean": synth.jump(1.0, 9.0, at=0.5)})),
    fires("lag grows without a bound", lambda: GRPO({"async/staleness_mean": synth.ramp(1.0, 10.0)})),
    healthy("lag of one version", lambda: BOUND({"async/staleness_mean": synth.flat(1.0, 0.1)})),
    near_miss("lag at its bound", lambda: BOUND({"async/staleness_mean": synth.flat(3.8, 0.02)})),
)


@rule(
    "DAT001",
    "staleness-high",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("async/staleness_mean", "async/staleness_max"),),
    min_points=3,
    params=Params(),
    cases=CASES,
    implies=(
        "behaviour-weight-off-one",
        "behaviour-ess-low",
        "behaviour-cap-saturated",
        "clip-fraction-high",
        "logprob-mismatch",
        "samples-dropped",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The learner trains on samples of policies that are too old.

    What it means:
        The lag between the policy that sampled and the one that learns exceeds its bound, or keeps growing.

    Why it matters:
        Importance weights get heavy tails, and the update answers a policy that is gone.

    Usual causes:
        Slow learner or fast sampler; a queue without a bound; a version counter that restarts after a resume.

    What to try:
        Run briefly in synchronous mode and compare; then lower the allowed lag before raising any cap.

    When it is harmless:
        A small constant lag with the decoupled loss.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 5.3.
    """
    lag = view.get("async/staleness_mean", "async/staleness_max")
    assert lag is not None
    bound = view.number("max_staleness")
    limit = bound if bound is not None and bound > 0 else params.absolute
    over = lag.value > limit + 0.5
    recent = median(lag.value[-params.points :])
    beyond = len(lag) >= params.points and bool(over[-params.points :].all())
    start = max(opening(lag.value), 0.5)
    trend = linear_trend(lag.step, lag.value)
    grows = len(lag) >= 30 and recent >= max(params.growth * start, 3.0) and trend.z > 4
    if not beyond and not grows:
        return None
    onset = (
        persistent_onset(lag.step, over, params.points)
        if beyond
        else (float(lag.step[0]), float(lag.step[len(lag) // 2]))
    )
    assert onset is not None
    far = beyond and bound is not None and recent >= 2 * limit
    return Detection(
        message=f"Samples are {recent:.3g} policy versions old (start {start:.3g}, limit {limit:.3g})",
        onset=view.onset(*onset),
        metric=lag.metric,
        evidence={"lag_versions": recent, "limit_versions": limit, "opening_versions": start},
        severity=Severity.ERROR if far else None,
    )
