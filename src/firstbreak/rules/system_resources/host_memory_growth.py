"""The rule `host-memory-growth`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, rank_correlation
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `host-memory-growth`: engineering defaults, except where a source is named."""

    rise: float = 0.25
    """Growth along the fitted line over its start. Engineering default."""
    z: float = 4.0
    """z of the slope, over the whole run and over its second half."""
    monotone: float = 0.8
    """Rank correlation of memory and time in the second half: a leak never gives back."""


GRPO = synth.like("GRPO")
SAC = synth.like("SAC")

REPLAY_ROOM = ("replay/size",)

STEPS = {"time/env_steps": synth.ramp(0, 60_000, 0.0)}
HELD = synth.like("SAC", config={"buffer_size": 10_000})
CASES = (
    fires("long after the buffer is full", lambda: HELD({"system/cpu_mem_gb": synth.ramp(4, 9, 0.005), **STEPS})),
    fires("grows by half", lambda: GRPO({"system/cpu_mem_gb": synth.ramp(40, 65, 0.005)})),
    healthy("steady", lambda: GRPO({"system/cpu_mem_gb": synth.flat(40, 0.01)})),
    near_miss(
        "grows at the start and settles", lambda: GRPO({"system/cpu_mem_gb": synth.ramp(40, 60, 0.005, until=0.3)})
    ),
    near_miss("the replay buffer may fill", lambda: SAC({"system/cpu_mem_gb": synth.ramp(4, 9, 0.005), **STEPS})),
    near_miss(
        "the replay buffer fills",
        lambda: SAC({"system/cpu_mem_gb": synth.ramp(4, 9, 0.005), "replay/size": synth.ramp(0, 1e6, 0.0)}),
    ),
)


@rule(
    "SYS003",
    "host-memory-growth",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    any_of=(("system/cpu_mem_gb",),),
    min_points=40,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("throughput-decay", "run-stalled"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Host memory grows without settling.

    What it means:
        Memory has risen by a fifth or more, and still rises as steadily in the second half of the run.

    Why it matters:
        It ends in an out-of-memory error hours later, or in swapping.

    Usual causes:
        Lists that only grow; queues without a bound; workers that leak; logging kept in memory.

    What to try:
        Take two heap snapshots an hour apart; restart workers now and then.

    When it is harmless:
        A replay buffer that is filling: its size is looked at where logged, else whether the run has taken more steps
        than it holds. Where neither is known nothing is claimed, health neither.

    References:
        Python documentation, tracemalloc.
    """
    memory = view.get("system/cpu_mem_gb")
    assert memory is not None
    half = len(memory) // 2
    whole, late = linear_trend(memory.step, memory.value), linear_trend(memory.step[half:], memory.value[half:])
    if whole.start <= 0 or whole.change < params.rise * whole.start or late.change < 0.25 * whole.change:
        return None
    steady = rank_correlation(memory.step[half:], memory.value[half:])
    if min(whole.z, late.z) < params.z or steady < params.monotone:
        return None
    replay = view.get(*REPLAY_ROOM)
    if replay is None and filling(view, float(memory.step[half])):
        return Skip("host memory grows without settling, or a replay buffer fills", REPLAY_ROOM, withholds=True)
    if replay is not None and len(replay) and replay.last > replay.first:
        return None
    return Detection(
        message=f"Host memory grew from {whole.start:.3g} to {whole.end:.3g} GB and still grows",
        onset=view.onset(float(memory.step[0]), float(memory.step[half])),
        metric=memory.metric,
        evidence={"start_gb": whole.start, "end_gb": whole.end, "z": whole.z},
    )


def filling(view: RunView, half: float) -> bool:
    """Whether a replay buffer may still have been filling in the second half, as far as steps and settings tell."""
    room = view.number("buffer_size")
    if room is None and "replay" not in traits_of(view.algorithm):
        return False
    taken = view.get("time/env_steps")
    if taken is not None and len(taken):
        return room is None or float(np.interp(half, taken.step, taken.value)) < room
    return room is None or view.log.clock != "env_steps" or half < room
