"""The rule `replay-not-filling`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import RunLog
from firstbreak.series import Floats
from firstbreak.view import Points, RunView

SIZE, STEPS, LENGTH = "replay/size", "time/env_steps", "episode/length_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `replay-not-filling`. Engineering defaults."""

    rows: int = 10
    """Rows on end in which the buffer holds exactly as many transitions as before."""
    full: float = 0.95
    """Share of the capacity from which on a buffer is full: the last steps of n-step returns may be kept back."""
    episodes: float = 3.0
    """Length of the standstill in episodes: some buffers take whole episodes only."""


def dqn(capacity: int) -> Callable[..., RunLog]:
    """Healthy runs of DQN with a buffer of `capacity`, counted in environment steps."""
    return synth.like("DQN", clock="env_steps", step=500.0, config={"buffer_size": capacity})


def entering(episode: float) -> synth.Shape:
    """Whole episodes enter at once."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        return episode * np.floor(FILLS(t, rng) / episode)

    return shape


FILLS, STOPS = synth.ramp(500, 60_000, 0.0), synth.clipped(synth.ramp(500, 60_000, 0.0), 0, 20_000)
CASES = (
    fires("it stops to grow at a fifth of its capacity", lambda: dqn(100_000)({SIZE: STOPS})),
    healthy("every step is stored", lambda: dqn(100_000)({SIZE: FILLS})),
    near_miss("it is full", lambda: dqn(20_000)({SIZE: STOPS})),
    near_miss(
        "whole episodes of 5,000 steps enter at once",
        lambda: dqn(100_000)({SIZE: entering(5000.0), LENGTH: synth.constant(5000.0)}),
    ),
)


@rule(
    "DAT017",
    "replay-not-filling",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(SIZE,),
    needs_config=("buffer_size",),
    when=("replay",),
    min_points=11,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
    implies=(
        "replay-stale",
        "q-divergence",
        "q-exceeds-return",
        "reward-flat",
        "return-collapse",
        "value-loss-explosion",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The environment is stepped, and the replay buffer, far from full, takes nothing in.

    What it means:
        The number of stored transitions stands still below the configured capacity while environment steps go on.

    Why it matters:
        From here on only old transitions are learned from. What the policy does now is never seen, so no mistake of
        the critic about it is ever corrected.

    Usual causes:
        A buffer that drops what it cannot place; a capacity lost on its way to the buffer; collected data that are
        not added after a resume; a writer process that died.

    What to try:
        Print the size and the newest entry of the buffer after each collection.

    When it is harmless:
        When learning goes on from fixed data on purpose and environment steps are evaluation only.

    References:
        None: a count of transitions is compared with a count of steps.
    """
    size, capacity = view.get(SIZE), view.number("buffer_size")
    assert size is not None
    made = steps_of(view, size)
    if made is None:
        return Skip("the number of environment steps is not known", (STEPS,))
    if capacity is None or capacity <= 0:
        return Skip("the capacity of the buffer is not known", ("config buffer_size",))
    before = np.flatnonzero(size.value != size.last)
    start = int(before[-1]) + 1 if before.size else 0
    if len(size) - start <= params.rows or not 0 < size.last < params.full * capacity:
        return None
    length, taken = view.get(LENGTH), float(made[-1] - made[start])
    longest = length.max if length is not None and len(length) else 0.0
    if taken <= params.episodes * longest or taken <= 0:
        return None
    return Detection(
        message=f"the buffer stays at {size.last:,.0f} of {capacity:,.0f} transitions through {taken:,.0f} steps",
        onset=view.onset(float(size.step[max(start - 1, 0)]), float(size.step[start])),
        metric=SIZE,
        evidence={"size": size.last, "capacity": capacity, "env_steps_since": taken},
    )


def steps_of(view: RunView, points: Points) -> Floats | None:
    """Environment steps [n] at the rows of `points`: the run's own clock, or what was logged of them."""
    if view.clock == "env_steps":
        return points.step
    steps = view.get(STEPS)
    return None if steps is None or len(steps) < 2 else np.interp(points.step, steps.step, steps.value)
