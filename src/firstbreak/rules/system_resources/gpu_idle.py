"""The rule `gpu-idle`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `gpu-idle`: engineering defaults, except where a source is named."""

    low: float = 30.0
    """Median utilisation in percent under which the device mostly waits. Engineering default."""
    swing: float = 40.0
    """Distance of the 90th and 10th percentile in points of percent that shows phases taking turns."""
    points: int = 8
    """Newest points that are looked at."""


GRPO = synth.like("GRPO")
PAIR = synth.like("GRPO", n=2)

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""

CASES = (
    fires("hardly used", lambda: GRPO({"perf/gpu_util": synth.flat(12, 0.1)})),
    fires("two rows far apart", lambda: PAIR({"perf/gpu_util": synth.ramp(97, 47, 0.0)})),
    healthy("busy", lambda: GRPO({"perf/gpu_util": synth.clipped(synth.flat(90, 0.03), 0, 100)})),
    near_miss("two thirds busy", lambda: GRPO({"perf/gpu_util": synth.flat(65, 0.05)})),
)


@rule(
    "SYS007",
    "gpu-idle",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.INFO,
    needs=("perf/gpu_util",),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The accelerator is idle much of the time.

    What it means:
        Utilisation is low, or swings widely as phases take turns.

    Why it matters:
        Throughput is lost to waiting: on samples, on scoring, on the other phase.

    Usual causes:
        Sampler and learner share devices in turn; environments on few cores; small batches.

    What to try:
        Trace one step; overlap sampling with learning; look at the environment first.

    When it is harmless:
        Small networks on a large device: control tasks are bound by the environment.

    References:
        Sheng et al. 2024 (HybridFlow), arXiv 2409.19256.
    """
    used = view.get("perf/gpu_util")
    assert used is not None
    whole = len(used.source) < SHORT and view.log.state != "running"
    count = len(used) if whole else params.points
    if not len(used) or len(used) < count:
        return None
    recent = used.value[-4 * count :]
    middle = median(recent)
    spread = float(np.quantile(recent, 0.9) - np.quantile(recent, 0.1))
    if middle >= params.low and spread < params.swing:
        return None
    return Detection(
        message=f"GPU utilisation is {middle:.0f} % (10th to 90th percentile: {spread:.0f} points apart)",
        onset=view.onset(float(used.step[0])),
        metric=used.metric,
        evidence={"median_percent": middle, "spread_percent": spread},
    )
