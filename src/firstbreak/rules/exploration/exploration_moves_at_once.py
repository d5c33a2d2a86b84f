"""The rule `exploration-moves-at-once`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.at_once import moves_at_once
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`exploration-moves-at-once` has no thresholds of its own: they stand in `firstbreak.at_once`."""


SAC = synth.like("SAC")
ALPHA, SURE = "sac/alpha", "policy/entropy"
SET = {ALPHA: synth.after(0.6, synth.flat(9.0, 0.01), synth.flat(0.1, 0.03))}
SPREADS = {SURE: synth.after(0.6, synth.flat(3.0, 0.02), synth.flat(-0.9, 0.02))}
RISES = {"reward/episode_return_mean": synth.jump(-1300, -250, 0.6)}
CASES = (
    fires("a temperature that was set anew, and a policy that spreads", lambda: SAC({**SET, **SPREADS})),
    healthy("as ever", lambda: SAC({ALPHA: synth.flat(0.1, 0.03), SURE: synth.flat(-0.9, 0.02)})),
    near_miss("one kind of metric alone", lambda: SAC(SPREADS)),
    near_miss("a success that the policy takes at once", lambda: SAC({**SPREADS, **SET, **RISES})),
    near_miss("it moves by degrees", lambda: SAC({ALPHA: synth.geometric(0.1, 9.0), SURE: synth.ramp(-0.9, 3.0)})),
)


@rule(
    "EXP042",
    "exploration-moves-at-once",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "return-falls-at-once"),
)
def detect(view: RunView, params: Params) -> Answer:
    """How certain the policy is, or what sets it, moved further than ever, and other metrics moved with it.

    What it means:
        Metrics of two or more kinds moved within one row, each further than it had ever moved in this run, and stayed.
        How far is usual is read off the run itself; the product of what each kind moved, in times of its own record, is
        beyond what chance shows. A coefficient of exploration, or the spread of actions, moved first; environment,
        reward, critic and steps did not.

    Why it matters:
        A policy that is suddenly certain stops learning, one that is suddenly random loses what it had.

    Usual causes:
        A bonus, temperature or epsilon that was set anew; a spread that was reset; logits that were scaled.

    What to try:
        Print the settings of exploration in force around that step; act greedily with the weights of before and after.

    When it is harmless:
        A schedule of exploration that takes such a step on purpose.

    References:
        Basseville and Nikiforov 1993, "Detection of Abrupt Changes" (changes against a process's own past).
    """
    return moves_at_once(view, Link.EXPLORATION)
