"""The rule `epsilon-stays-high`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import rank_correlation
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `epsilon-stays-high`: engineering defaults, except where a source is named."""

    high: float = 0.3
    """Epsilon that no published schedule ends on; usual floors are 0.01 to 0.1 (Mnih et al. 2015)."""
    points: int = 20
    """Logged points."""
    slack: float = 0.01
    """Fall over the second half that still counts as none."""
    growth: float = 0.05
    """Rise over the run that counts as growing."""
    random: float = 0.5
    """Epsilon that a run whose planned steps are over never got below, falling or not: most actions of all of it were
    random."""


DQN = synth.like("DQN", clock="env_steps", step=500.0, config={"learning_starts": 10_000, "total_steps": 60_000})


CASES = (
    fires("ends at 0.6", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.6, 0.0, until=0.2)})),
    fires("has come down to 0.9 when the run is over", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.9, 0.0)})),
    fires("grows", lambda: DQN({"dqn/epsilon": synth.ramp(0.1, 0.9, 0.0)})),
    healthy("usual schedule", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.05, 0.0, until=0.5)})),
    near_miss("slow schedule, still falling", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.4, 0.0)})),
    near_miss(
        "held high while learning has not begun",
        lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.05, 0.0, begin=0.15, until=0.5)}),
    ),
)


@rule(
    "EXP018",
    "epsilon-stays-high",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("dqn/epsilon",),
    when=("epsilon_greedy",),
    min_points=20,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat", "train-eval-gap", "q-over-bound", "q-exceeds-return"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Most actions stay random: epsilon does not come down, or grows.

    What it means:
        Epsilon has stopped falling at 0.3 or more in the second half of the run, or rises along it, or the planned
        steps are over and it never came below 0.5.

    Why it matters:
        What is collected is mostly noise, and the logged return understates the policy. Values of actions that are
        never followed up are not corrected either.

    Usual causes:
        A wrong final value; a schedule in other units than the steps (episodes, updates); a decay factor with an
        additive term.

    What to try:
        Plot epsilon against its intended schedule; evaluate without exploration.

    When it is harmless:
        While random steps fill the buffer, before learning begins.

    References:
        Mnih et al. 2015, Nature 518, extended data table 1.
    """
    epsilon = view.get("dqn/epsilon")
    assert epsilon is not None
    starts = view.number("learning_starts") or 0.0
    value = epsilon.value[epsilon.step > starts] if view.clock == "env_steps" else epsilon.value
    if value.size < params.points or value[-1] < params.high:
        return None
    if view.log.state == "running" or view.hi < view.log.last_step:
        return None  # A plateau in the middle may be part of the schedule.
    half = value[value.size // 2 :]
    grows = (
        value[-1] - value[0] >= params.growth
        and rank_correlation(np.arange(value.size, dtype=np.float64), value) >= 0.9
    )
    never = view.log.state == "finished" and float(value.min()) >= params.random
    if not grows and not never and half[0] - half[-1] > params.slack:
        return None
    how = ", and has grown" if grows else "" if never else ", and no longer falls"
    first = float(epsilon.step[0]) if grows or never else float(epsilon.step[epsilon.step.size // 2])
    return Detection(
        message=f"Epsilon is {value[-1]:.3g} at the end{how}",
        onset=view.onset(float(epsilon.step[0]), first),
        metric=epsilon.metric,
        evidence={"epsilon": float(value[-1]), "opening": float(value[0])},
    )
