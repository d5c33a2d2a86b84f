"""The rule `epsilon-zero`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `epsilon-zero`."""

    least: float = 1e-3
    """The least floor of published settings is 0.001 (Hessel et al. 2018, arXiv 1710.02298, for evaluation; 0.01 in
    training)."""
    rows: int = 5
    """Rows from the first on that must show it. Engineering default."""


DQN = synth.like("DQN", clock="env_steps", step=500.0, config={"learning_starts": 1000, "total_steps": 60_000})
NOISY = synth.like("DQN", clock="env_steps", step=500.0, config={"noisy_nets": True})

CASES = (
    fires("0 from the first row", lambda: DQN({"dqn/epsilon": synth.constant(0.0)})),
    healthy("usual schedule", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.05, 0.0, until=0.5)})),
    near_miss("0.01 throughout", lambda: DQN({"dqn/epsilon": synth.constant(0.01)})),
    near_miss("falls to 0 in the end", lambda: DQN({"dqn/epsilon": synth.ramp(1.0, 0.0, 0.0, until=0.5)})),
    near_miss("noisy nets explore instead", lambda: NOISY({"dqn/epsilon": synth.constant(0.0)})),
)


@rule(
    "EXP024",
    "epsilon-zero",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("dqn/epsilon",),
    when=("epsilon_greedy",),
    min_points=5,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat", "q-exceeds-return"),
)
def detect(view: RunView, params: Params) -> Answer:
    """No action was ever taken at random.

    What it means:
        Epsilon is 0 from the first row on.

    Why it matters:
        The buffer holds what an untrained network happens to prefer; actions it never prefers have no data at all.

    Usual causes:
        Settings of an evaluation; a schedule that was swapped (first and last value) or never called.

    What to try:
        Start at 1 and let it fall to 0.05 over a tenth of the run.

    When it is harmless:
        With noisy networks, a bonus for novelty, or demonstrations in the buffer.

    References:
        Mnih et al. 2015, Nature 518, extended data table 1. Fortunato et al. 2018, arXiv 1706.10295 (noisy nets).
    """
    epsilon = view.get("dqn/epsilon")
    assert epsilon is not None
    resumed = float(epsilon.source.step[0]) > 20 * epsilon.cadence > 0
    if epsilon.max > params.least or len(epsilon) < params.rows or view.config("noisy_nets") or resumed:
        return None
    return Detection(
        message=f"epsilon is {epsilon.max:g} at all {len(epsilon)} rows: nothing was tried at random",
        onset=view.onset(float(epsilon.source.step[0])),
        metric=epsilon.metric,
        evidence={"epsilon_max": epsilon.max},
    )
