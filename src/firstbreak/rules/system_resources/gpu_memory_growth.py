"""The rule `gpu-memory-growth`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, rank_correlation
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `gpu-memory-growth`: engineering defaults, except where a source is named."""

    rise: float = 0.2
    """Growth along the fitted line over its start. Engineering default."""
    z: float = 4.0
    """z of the slope, over the whole run and over its second half."""
    monotone: float = 0.8
    """Rank correlation of memory and time in the second half: a leak never gives back."""


GRPO = synth.like("GRPO")

CASES = (
    fires("grows by half", lambda: GRPO({"system/gpu_mem_gb": synth.ramp(40, 65, 0.005)})),
    healthy("steady", lambda: GRPO({"system/gpu_mem_gb": synth.flat(40, 0.01)})),
    near_miss(
        "grows at the start and settles", lambda: GRPO({"system/gpu_mem_gb": synth.ramp(40, 60, 0.005, until=0.3)})
    ),
    near_miss(
        "grows with the responses",
        lambda: GRPO({"system/gpu_mem_gb": synth.ramp(40, 65, 0.005), "seq/len_max": synth.ramp(500, 1500)}),
    ),
)


@rule(
    "SYS002",
    "gpu-memory-growth",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    any_of=(("system/gpu_mem_gb", "system/gpu_mem_reserved_gb"),),
    min_points=60,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("throughput-decay", "run-stalled"),
)
def detect(view: RunView, params: Params) -> Answer:
    """GPU memory grows without settling.

    What it means:
        Memory has risen by a fifth or more, and still rises as steadily in the second half of the run.

    Why it matters:
        It ends in an out-of-memory error hours later, or in swapping.

    Usual causes:
        Tensors kept with their graph; growing buffers and logs; fragmentation.

    What to try:
        Compare allocated with reserved memory; run the longest batch that can occur; take two snapshots and compare.

    When it is harmless:
        Growth that follows the longest response.

    References:
        PyTorch documentation, "Understanding CUDA memory usage".
    """
    memory = view.get("system/gpu_mem_gb", "system/gpu_mem_reserved_gb")
    assert memory is not None
    half = len(memory) // 2
    whole, late = linear_trend(memory.step, memory.value), linear_trend(memory.step[half:], memory.value[half:])
    if whole.start <= 0 or whole.change < params.rise * whole.start or late.change < 0.25 * whole.change:
        return None
    steady = rank_correlation(memory.step[half:], memory.value[half:])
    if min(whole.z, late.z) < params.z or steady < params.monotone:
        return None
    longest = view.get("seq/total_len_max", "seq/len_max", "seq/total_len_mean", "seq/len_mean")
    if longest is not None and len(longest) >= 30:
        grown = linear_trend(longest.step, longest.value)
        if grown.z > 4 and grown.change * whole.start >= whole.change * abs(grown.start):
            return None
    return Detection(
        message=f"GPU memory grew from {whole.start:.3g} to {whole.end:.3g} GB and still grows",
        onset=view.onset(float(memory.step[0]), float(memory.step[half])),
        metric=memory.metric,
        evidence={"start_gb": whole.start, "end_gb": whole.end, "z": whole.z},
    )
