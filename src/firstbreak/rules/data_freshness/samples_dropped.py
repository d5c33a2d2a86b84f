"""The rule `samples-dropped`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `samples-dropped`: engineering defaults, except where a source is named."""

    most: float = 0.5
    """Share of sampled data that is thrown away. Engineering default."""
    points: int = 5
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

CASES = (
    fires("two thirds unusable", lambda: GRPO({"async/valid_fraction": synth.jump(0.95, 0.3, at=0.5)})),
    fires(
        "more dropped than trained",
        lambda: GRPO({"async/stale_dropped": synth.flat(200), "sample/count": synth.constant(64)}),
    ),
    healthy("all usable", lambda: GRPO({"async/valid_fraction": synth.clipped(synth.flat(0.97, 0.01), 0, 1)})),
    near_miss("one bad batch", lambda: GRPO({"async/valid_fraction": synth.spikes(0.95, 0.1, at=(0.5,))})),
)


@rule(
    "DAT005",
    "samples-dropped",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("async/valid_fraction", "async/stale_dropped"),),
    min_points=5,
    params=Params(),
    cases=CASES,
    implies=("throughput-decay",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Most of what is sampled is thrown away.

    What it means:
        More than half of the samples are dropped for staleness or are unusable, batch after batch.

    Why it matters:
        Compute is burnt, and what survives is biased towards short, quick responses.

    Usual causes:
        Sampler far ahead of the learner; a bound on lag that the pipeline cannot keep; failing environments.

    What to try:
        Rebalance samplers and learner; compare the length of dropped and kept samples.

    When it is harmless:
        For a moment after a resume.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 5.1.
    """
    valid, dropped, count = view.get("async/valid_fraction"), view.get("async/stale_dropped"), view.get("sample/count")
    if valid is not None and len(valid):
        points, lost = valid, 1 - valid.value
    elif dropped is not None and count is not None and len(dropped) and len(count):
        kept = max(median(count.value), 1e-300)
        points, lost = dropped, dropped.value / (dropped.value + kept)
    else:
        return Skip("the number of samples that were kept is not known", ("sample/count",))
    over = lost > params.most
    if len(points) < params.points or not bool(over[-params.points :].all()):
        return None
    onset = persistent_onset(points.step, over, params.points)
    assert onset is not None
    recent = median(lost[-params.points :])
    return Detection(
        message=f"{recent:.0%} of the samples are thrown away",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"dropped_frac": recent, "limit_frac": params.most},
    )
