"""The rule `kv-preemption`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `kv-preemption`: engineering defaults, except where a source is named."""

    share: float = 0.05
    """Preempted requests over the sequences of a step, where their number is known. Engineering default."""
    slower: float = 0.85
    """Tokens per second in rows with many preemptions over those with few. Engineering default."""
    points: int = 8
    """Newest points in which requests were preempted."""


GRPO = synth.like("GRPO")

PREEMPTED, SPEED, COUNT = "perf/kv_preemptions", "perf/tokens_per_sec", "sample/count"
NUMBER = {COUNT: synth.constant(256)}

CASES = (
    fires("a fifth is preempted", lambda: GRPO({**NUMBER, PREEMPTED: synth.flat(50, 0.1)})),
    fires(
        "grows with the length, speed falls",
        lambda: GRPO({PREEMPTED: synth.clipped(synth.ramp(-40, 60), 0, 1e9), SPEED: synth.ramp(9000, 4000, 0.02)}),
    ),
    healthy("none", lambda: GRPO({**NUMBER, PREEMPTED: synth.constant(0.0)})),
    near_miss("one in a hundred", lambda: GRPO({**NUMBER, PREEMPTED: synth.flat(2, 0.1)})),
    near_miss("some, at full speed", lambda: GRPO({PREEMPTED: synth.flat(5, 0.1), SPEED: synth.flat(9000, 0.02)})),
)


@rule(
    "SYS011",
    "kv-preemption",
    link=Link.SYSTEM_RESOURCES,
    component=Component.ROLLOUT,
    needs=(PREEMPTED,),
    min_points=8,
    implies=("throughput-decay", "step-time-tail"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The inference engine keeps preempting requests because its key-value cache is full.

    What it means:
        Sequences are thrown out and computed again, step after step.

    Why it matters:
        The same tokens are paid twice; throughput falls in a sawtooth, and a longer step makes samples older.

    Usual causes:
        More sequences at once than their lengths allow; responses that grew; memory shared with the trainer.

    What to try:
        Fewer sequences at once; more memory for the cache; fp8 cache; a shorter limit on responses.

    When it is harmless:
        A few preemptions per step cost less than a smaller batch.

    References:
        Kwon et al. 2023 (vLLM), arXiv 2309.06180, section 4.5 (preemption and recomputation).
    """
    preempted, speed, count = view.get(PREEMPTED), view.get(SPEED), view.get(COUNT)
    assert preempted is not None
    n = params.points
    if bool((preempted.value[-n:] <= 0).any()):
        return None
    recent = median(preempted.value[-n:])
    if count is not None and len(count):
        total = median(count.value[-n:])
        share = recent / total if total > 0 else 0.0
        told = f"{share:.0%} of {total:.4g} sequences" if share >= params.share else ""
        number = share
    else:
        number = _slowdown(preempted, speed)
        told = f"{recent:.3g} requests a step, at {number:.0%} of the speed" if number <= params.slower else ""
    if not told:
        return None
    onset = persistent_onset(preempted.step, preempted.value > 0, n)
    assert onset is not None
    return Detection(
        message=f"preempted for lack of cache: {told}",
        onset=view.onset(*onset),
        metric=PREEMPTED,
        evidence={"preempted": recent, "measure_frac": number},
    )


def _slowdown(preempted: Points, speed: Points | None) -> float:
    """Median speed of the rows with the most preemptions over that of the rows with the fewest, 1 if unknown."""
    if speed is None:
        return 1.0
    common = sorted(set(preempted.step.tolist()) & set(speed.step.tolist()))
    if len(common) < 16:
        return 1.0
    many, pace = preempted.value[np.isin(preempted.step, common)], speed.value[np.isin(speed.step, common)]
    low, high = float(np.quantile(many, 0.25)), float(np.quantile(many, 0.75))
    if high <= low:
        return 1.0
    fast = median(pace[many <= low])
    return median(pace[many >= high]) / fast if fast > 0 else 1.0
