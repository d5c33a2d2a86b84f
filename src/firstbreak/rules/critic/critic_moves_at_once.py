"""The rule `critic-moves-at-once`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.at_once import moves_at_once
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`critic-moves-at-once` has no thresholds of its own: they stand in `firstbreak.at_once`."""


PPO = synth.like("PPO")
LOSS, FIT = "critic/loss", "critic/explained_variance"
ERRS = {LOSS: synth.after(0.6, synth.flat(900, 0.1), synth.flat(30, 0.1))}
LOST = {FIT: synth.after(0.6, synth.flat(-0.8, 0.02), synth.flat(0.9, 0.02))}
RISES = {"reward/episode_return_mean": synth.jump(20, 300, 0.6)}
FALLS = {"reward/episode_return_mean": synth.jump(300, 20, 0.6)}
CASES = (
    fires("errors grow and nothing is explained any more", lambda: PPO({**ERRS, **LOST})),
    healthy("as ever", lambda: PPO({LOSS: synth.flat(30, 0.1)})),
    near_miss("one kind of metric alone", lambda: PPO(ERRS)),
    near_miss("a first success surprises the critic", lambda: PPO({**ERRS, **LOST, **RISES})),
    near_miss("returns fell with it: which came first is not said", lambda: PPO({**ERRS, **LOST, **FALLS})),
    near_miss("errors shrink", lambda: PPO({LOSS: synth.jump(900, 30, 0.6), FIT: synth.jump(-0.8, 0.9, 0.6)})),
)


@rule(
    "CRT036",
    "critic-moves-at-once",
    link=Link.CRITIC,
    component=Component.VALUE,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "return-falls-at-once"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Values, targets or their errors moved further than ever, several kinds at once; nothing further out did.

    What it means:
        Metrics of two or more kinds moved within one row, each further than it had ever moved in this run, and stayed.
        How far is usual is read off the run itself; the product of what each kind moved, in times of its own record, is
        beyond what chance shows. Of what is logged the critic is the outermost that moved; returns had not fallen with
        it.

    Why it matters:
        Advantages and Q-values of a critic that is suddenly another push the policy somewhere at random.

    Usual causes:
        A discount, target or bootstrap that changed; a critic that was exchanged or lost its optimiser; targets of
        other data.

    What to try:
        Log the critic on one fixed batch before and after that step, and its targets beside it.

    When it is harmless:
        Resets of the critic on purpose; a first success of a sparse task.

    References:
        Basseville and Nikiforov 1993, "Detection of Abrupt Changes" (changes against a process's own past).
    """
    return moves_at_once(view, Link.CRITIC)
