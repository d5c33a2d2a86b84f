"""The rule `reward-moves-at-once`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.at_once import moves_at_once
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`reward-moves-at-once` has no thresholds of its own: they stand in `firstbreak.at_once`."""


PPO = synth.like("PPO")
SURPRISE, SPREAD, LOSS = "reward/env_surprise", "reward/env_std", "critic/loss"
USUAL = {SURPRISE: synth.flat(1.0, 0.1), SPREAD: synth.flat(0.5, 0.02)}
OTHER = {SURPRISE: synth.after(0.6, synth.flat(40.0, 0.1), USUAL[SURPRISE]), SPREAD: synth.jump(0.5, 3.0, 0.6)}
ERRS = {LOSS: synth.after(0.6, synth.flat(900, 0.1), synth.flat(30, 0.1))}
RISES = {"reward/episode_return_mean": synth.jump(20, 300, 0.6)}
CASES = (
    fires("steps are paid otherwise, the critic errs", lambda: PPO({**OTHER, **ERRS})),
    healthy("as ever", lambda: PPO(USUAL)),
    near_miss("one kind of metric alone", lambda: PPO(OTHER)),
    near_miss("a first success", lambda: PPO({**OTHER, **ERRS, **RISES})),
    near_miss("the critic alone errs more", lambda: PPO({**USUAL, **ERRS})),
)


@rule(
    "RWD058",
    "reward-moves-at-once",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "return-falls-at-once"),
)
def detect(view: RunView, params: Params) -> Answer:
    """What single steps are paid is suddenly not what it was, and other metrics moved with it, further than ever.

    What it means:
        Metrics of two or more kinds moved within one row, each further than it had ever moved in this run, and stayed.
        How far is usual is read off the run itself; the product of what each kind moved, in times of its own record, is
        beyond what chance shows. Rewards of single steps moved first, or no longer followed from observation and
        action; the environment did not.

    Why it matters:
        The policy follows another reward than the one it had learned, and the critic predicts one that is gone.

    Usual causes:
        A term that changed its sign or weight; a scale, clip or normaliser that was set anew; another scorer.

    What to try:
        Compute the reward of recorded transitions with the code of before and of after that step.

    When it is harmless:
        A reward curriculum that you switched on at that step; the first reward of a sparse task.

    References:
        Basseville and Nikiforov 1993, "Detection of Abrupt Changes" (changes against a process's own past).
    """
    return moves_at_once(view, Link.REWARD_SIGNAL)
