"""The rule `trainer-starved`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `trainer-starved`: engineering defaults, except where a source is named."""

    most: float = 0.5
    """Share of wall time that the learner waits. Engineering default."""
    points: int = 8
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

CASES = (
    fires("idle two thirds of the time", lambda: GRPO({"async/idle_fraction": synth.flat(0.67, 0.05)})),
    fires("waits longer than it works", lambda: GRPO({"async/wait_time": synth.flat(20.0)})),
    healthy("hardly waits", lambda: GRPO({"async/wait_time": synth.flat(2.0)})),
    near_miss("waits once", lambda: GRPO({"async/idle_fraction": synth.spikes(0.1, 0.9, at=(0.5,))})),
)


@rule(
    "SYS006",
    "trainer-starved",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    any_of=(("async/idle_fraction", "async/wait_time"),),
    min_points=8,
    params=Params(),
    cases=CASES,
    implies=("throughput-decay",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The learner waits for samples more than it works.

    What it means:
        More than half of the wall time passes in waiting for data.

    Why it matters:
        The accelerators of the learner are paid for and idle.

    Usual causes:
        Too few samplers; slow environments or scoring; one long rollout per batch.

    What to try:
        Shift devices from learner to samplers; allow partial rollouts; score in parallel.

    When it is harmless:
        At the start, while the first batch is sampled.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 3.
    """
    idle, wait, step = view.get("async/idle_fraction"), view.get("async/wait_time"), view.get("time/step")
    if idle is not None and len(idle):
        points, share = idle, idle.value
    elif wait is not None and step is not None and len(wait) and len(step) and median(step.value[-8:]) > 0:
        points, share = wait, wait.value / median(step.value[-8:])
    else:
        return Skip("waiting cannot be set against the time of a step", ("time/step",))
    over = share > params.most
    if len(points) < params.points or not bool(over[-params.points :].all()):
        return None
    onset = persistent_onset(points.step, over, params.points)
    assert onset is not None
    return Detection(
        message=f"The learner waits {min(median(share[-params.points :]), 1.0):.0%} of the time for samples",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"idle_frac": median(share[-params.points :])},
    )
