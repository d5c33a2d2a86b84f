"""The rule `epsilon-floor-early`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `epsilon-floor-early`: engineering defaults, except where a source is named."""

    early_frac: float = 0.02
    """Share of the planned steps after which epsilon may be at its floor. Published DQN settings take 10 to 16 % of
    short runs and 2 % of 50 million frames (Mnih et al. 2015)."""
    floor: float = 0.1
    """Epsilon at or below this counts as its floor."""


DQN = synth.like("DQN", clock="env_steps", step=500.0, config={"learning_starts": 10_000, "total_steps": 60_000})

CASES = (
    fires("floor before learning starts", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.05, 0.0, until=0.1)})),
    healthy("usual schedule", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.05, 0.0, until=0.5)})),
    near_miss("fast, but after learning started", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.05, 0.0, until=0.3)})),
)


@rule(
    "EXP010",
    "epsilon-floor-early",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("dqn/epsilon",),
    when=("epsilon_greedy",),
    min_points=3,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Random exploration is over before learning has begun.

    What it means:
        Epsilon is at its floor before the first update, or within the first few hundredths of the run.

    Why it matters:
        The buffer then holds the untrained network's one habit, and the agent learns from that.

    Usual causes:
        The schedule counts other steps than were planned (environments, frames); a short exploration fraction.

    What to try:
        Stretch epsilon's decay, or start learning earlier.

    When it is harmless:
        Where another exploration runs beside it (noisy nets, demonstrations).

    References:
        Mnih et al. 2015, Nature 518, extended data table 1.
    """
    epsilon = view.get("dqn/epsilon")
    assert epsilon is not None
    low = epsilon.value <= max(params.floor, 0.0)
    if epsilon.max <= params.floor or not low.any() or view.clock != "env_steps":
        return None
    first = int(np.argmax(low))
    reached, before = float(epsilon.step[first]), float(epsilon.step[max(first - 1, 0)])
    starts, planned = view.number("learning_starts"), view.number("total_steps")
    idle = starts is not None and reached <= starts
    rushed = planned is not None and planned > 0 and reached < params.early_frac * planned
    if not idle and not rushed:
        return None
    why = f"learning starts at {starts:.4g}" if idle else f"of {planned:.4g} planned"
    return Detection(
        message=f"Epsilon is at its floor {epsilon.last:.3g} by step {reached:.4g}; {why}",
        onset=view.onset(before, reached),
        metric=epsilon.metric,
        evidence={"epsilon": epsilon.last, "reached_steps": reached, "learning_starts_steps": starts or 0.0},
    )
