"""The rule `policy-moves-at-once`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.at_once import moves_at_once
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`policy-moves-at-once` has no thresholds of its own: they stand in `firstbreak.at_once`."""


PPO = synth.like("PPO")
KL, NORM, SURE = "policy/kl_old", "net/weight_norm", "policy/entropy"
FAR = {KL: synth.clipped(synth.after(0.6, synth.flat(0.3, 0.1), synth.flat(0.008, 0.2)), 0, 9)}
OTHER = {NORM: synth.after(0.6, synth.flat(40.0, 0.001), synth.flat(20.0, 0.001))}
CERTAIN = {SURE: synth.after(0.6, synth.flat(0.05, 0.02), synth.flat(0.6, 0.02))}
RISES = {"reward/episode_return_mean": synth.jump(20, 300, 0.6)}
CASES = (
    fires("weights are others, and updates go far", lambda: PPO({**FAR, **OTHER})),
    fires("updates go far, and certainty leaps", lambda: PPO({**FAR, **CERTAIN})),
    healthy("as ever", lambda: PPO({KL: synth.clipped(synth.flat(0.008, 0.2), 0, 9), NORM: synth.flat(20.0, 0.001)})),
    near_miss("one kind of metric alone", lambda: PPO(FAR)),
    near_miss("a success that the policy takes at once", lambda: PPO({**FAR, **CERTAIN, **RISES})),
    near_miss("a few rows only", lambda: synth.like("PPO", n=30)({**FAR, **OTHER})),
)


@rule(
    "POL090",
    "policy-moves-at-once",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "return-falls-at-once"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Weights, their steps or the learning rate moved further than ever, and other metrics moved with them.

    What it means:
        Metrics of two or more kinds moved within one row, each further than it had ever moved in this run, and stayed.
        How far is usual is read off the run itself; the product of what each kind moved, in times of its own record, is
        beyond what chance shows. The size of weights, of a step or of the learning rate moved first; environment,
        reward and critic did not.

    Why it matters:
        What was learned is not what acts, or each update now goes further than the data can tell.

    Usual causes:
        Another learning rate; a checkpoint loaded on top; moments of the optimiser that were lost; another loss.

    What to try:
        Compare weights and state of the optimiser before and after that step.

    When it is harmless:
        Resets, and steps of a schedule, that you planned.

    References:
        Basseville and Nikiforov 1993, "Detection of Abrupt Changes" (changes against a process's own past).
    """
    return moves_at_once(view, Link.POLICY_UPDATE)
