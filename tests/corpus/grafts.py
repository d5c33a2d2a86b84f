"""Faults injected into real healthy runs: what a rule looks at is replaced by the course of its pathology.

Everything else of the run (its other metrics, its clock, its configuration, its gaps) stays real. This shows that a
rule works in real surroundings; the recorded runs show whether real faults look like the pathology.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from firstbreak import synth
from firstbreak.engine import Ending, run_rules
from firstbreak.rule import Expect, Rule
from firstbreak.runlog import RunLog
from firstbreak.series import Curve, Series

from .labels import runs_of

HOSTS = {
    "PPO": ("cleanrl_tb", "sb3_ppo_cartpole", "loop_runs/ppo"),
    "A2C": ("sb3_runs/a2c_cartpole",),
    "SAC": ("sb3_sac_pendulum", "torchrl_sac_pendulum"),
    "TD3": ("sb3_runs/td3_pendulum",),
    "DQN": ("sb3_dqn_cartpole",),
    "GRPO": ("trl_grpo_healthy", "trl_grpo_softreward"),
    "RLHF-PPO": ("trl_grpo_softreward",),
    "MM-RKHS": ("loop_runs/mmrkhs",),
    "": ("cleanrl_tb",),
}
"""Real healthy runs of each algorithm; RLHF-PPO has none, so a GRPO run lends its surroundings."""


@cache
def host(name: str) -> RunLog:
    """Return the first run of a labelled folder."""
    return runs_of(name)[0]


def graft(real: RunLog, sick: RunLog, metrics: tuple[str, ...]) -> RunLog:
    """Return `real` with the series that make `sick` sick, stretched over the real run's clock."""
    end = real.last_step or 1.0
    usual = synth.HEALTHY.get(sick.algorithm, {})
    taken = [s for s in sick.series if s.metric in metrics or s.scope.component or s.metric not in usual]
    stretch = end / max(sick.last_step, 1.0)
    new = [replace(s, curve=Curve(s.step * stretch, s.value), source_key=s.metric) for s in taken]
    names = {s.metric for s in new}
    kept: list[Series] = [s for s in real.series if s.metric not in names]
    return replace(
        real,
        series=tuple(kept + new),
        config={**real.config, **sick.config},
        algorithm=sick.algorithm or real.algorithm,
        phases=(),
        events=tuple(replace(e, at=e.at * stretch) for e in sick.events),
        state=sick.state,
    )


def fires_on_a_graft(rule: Rule) -> bool:
    """Whether `rule` fires on any of its firing cases grafted onto a real healthy run of the same algorithm."""
    for case in rule.cases:
        if case.expect is not Expect.FIRES:
            continue
        sick = case.run()
        for name in HOSTS.get(sick.algorithm, HOSTS[""]):
            (outcome,) = run_rules(graft(host(name), sick, rule.metrics), [rule])
            if outcome.status is Ending.FIRED:
                return True
    return False
