"""The rule `phase-bottleneck`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `phase-bottleneck`: engineering defaults, except where a source is named."""

    generation: float = 0.8
    """Share of a step spent generating that is worth a note; half to three quarters is usual for language models."""
    other: float = 0.5
    """Share of any other single phase (reward, sync, log-probs, tools) that is worth a warning. Engineering
    default."""
    points: int = 5
    """Newest points that the medians are taken over."""


GRPO = synth.like("GRPO")

OTHERS = ("time/reward", "time/sync", "time/old_logprob", "time/ref_logprob", "tool/time_mean")

CASES = (
    fires("scoring takes most of the step", lambda: GRPO({"time/reward": synth.flat(20.0)})),
    fires("generation takes nearly all", lambda: GRPO({"time/generate": synth.flat(27.0)})),
    healthy(
        "balanced",
        lambda: GRPO(
            {"time/generate": synth.flat(15.0), "time/reward": synth.flat(2.0), "time/update": synth.flat(10.0)}
        ),
    ),
    near_miss("one slow scoring", lambda: GRPO({"time/reward": synth.spikes(2.0, 29.0, at=(0.5,))})),
)


@rule(
    "SYS004",
    "phase-bottleneck",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.INFO,
    needs=("time/step",),
    any_of=(("time/generate", "time/reward", "time/sync", "time/old_logprob", "time/ref_logprob", "tool/time_mean"),),
    min_points=5,
    params=Params(),
    cases=CASES,
    implies=("trainer-starved", "gpu-idle"),
)
def detect(view: RunView, params: Params) -> Answer:
    """One phase takes most of every step.

    What it means:
        Generation takes over 80 % of the step, or another phase than the update over half.

    Why it matters:
        The other devices wait, and in asynchronous training the data grow stale.

    Usual causes:
        Few samplers; a slow reward service or judge; weights copied through the disk; the longest response.

    What to try:
        Trace one step; score in parallel with generation; bound the longest response; rebalance devices.

    When it is harmless:
        Generation is the largest phase in most language-model training.

    References:
        Sheng et al. 2024 (HybridFlow), arXiv 2409.19256, section 8.
    """
    step = view.get("time/step")
    assert step is not None
    n = params.points
    total = median(step.value[-n:])
    if total <= 0 or len(step) < n:
        return None
    shares: dict[str, float] = {}
    for metric in ("time/generate", *OTHERS):
        points = view.get(metric)
        if points is not None and len(points) >= n:
            shares[metric] = median(points.value[-n:]) / total
    limits = {metric: params.generation if metric == "time/generate" else params.other for metric in shares}
    over = {metric: share for metric, share in shares.items() if limits[metric] <= share <= 1.05}
    if not over:
        return None
    worst = max(over, key=lambda metric: over[metric] / limits[metric])
    shown = view.get(worst)
    assert shown is not None
    return Detection(
        message=f"{worst} takes {over[worst]:.0%} of a step of {total:.3g} s",
        onset=view.onset(float(shown.step[0])),
        metric=worst,
        evidence={"share_frac": over[worst], "step_s": total},
        severity=Severity.INFO if worst == "time/generate" else Severity.WARNING,
    )
