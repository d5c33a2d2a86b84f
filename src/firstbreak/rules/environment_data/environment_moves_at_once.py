"""The rule `environment-moves-at-once`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import moves_at_once
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """How far metrics must move stands in `firstbreak.at_once`."""

    usual: float = 1.0
    """Error of the next observation, in times the usual one, that one row must pass where it is measured: 1 is as
    usual by definition."""
    foreseen: float = 0.99
    """Share of what moves that must not be foreseen in one row, where that is measured: a world of which all but a
    hundredth is foreseen is the same, whatever a policy meets in it that hardly moved before. Engineering default;
    recorded faults that are told so lie at 0.9896 at most (2026-11-26)."""


PPO = synth.like("PPO")
SURPRISE, PREDICTED = "env/dynamics_surprise", "env/predicted_frac"
USUAL = {SURPRISE: synth.flat(1.0, 0.1), PREDICTED: synth.flat(0.95, 0.01)}
OTHER = {
    SURPRISE: synth.after(0.6, synth.flat(30.0, 0.1), USUAL[SURPRISE]),
    PREDICTED: synth.after(0.6, synth.flat(-3.0, 0.1), USUAL[PREDICTED]),
}
LOSS = {"critic/loss": synth.after(0.6, synth.flat(900, 0.1), synth.flat(30, 0.1))}
RISES = {"reward/episode_return_mean": synth.jump(20, 300, 0.6)}
CASES = (
    fires("the world answers otherwise, the critic errs", lambda: PPO({**OTHER, **LOSS})),
    healthy("as ever", lambda: PPO(USUAL)),
    near_miss("one kind of metric alone", lambda: PPO(OTHER)),
    near_miss(
        "the policy goes somewhere new: a little more surprise, and success",
        lambda: PPO({**USUAL, SURPRISE: synth.after(0.6, synth.flat(1.6, 0.1), USUAL[SURPRISE]), **LOSS, **RISES}),
    ),
    near_miss(
        "less of hardly anything is foreseen: what is missed is no more than usual",
        lambda: PPO({**OTHER, **LOSS, SURPRISE: synth.flat(0.5, 0.1)}),
    ),
    near_miss(
        "a pendulum that hung still begins to swing: more is missed than ever, and all but little of it foreseen",
        lambda: PPO({**OTHER, **LOSS, PREDICTED: synth.after(0.6, synth.flat(0.996, 1e-4), synth.flat(1.0, 1e-5))}),
    ),
    near_miss("one odd row", lambda: PPO({SURPRISE: synth.spikes(1.0, 30.0, (0.6,)), **USUAL})),
)


@rule(
    "ENV048",
    "environment-moves-at-once",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("return-collapse", "return-falls-at-once"),
)
def detect(view: RunView, params: Params) -> Answer:
    """What the environment answers is suddenly not what it was, and other metrics moved with it, further than ever.

    What it means:
        Metrics of two or more kinds moved within one row, each further than it had ever moved in this run, and stayed.
        How far is usual is read off the run itself; the product of what each kind moved, in times of its own record, is
        beyond what chance shows. What the environment answers to a state and an action moved first.

    Why it matters:
        What was learned is true of another world; tuning the algorithm does not bring the return back.

    Usual causes:
        A wrapper, simulator or sensor that changed in mid-run; actions carried out otherwise; a copy that was replaced;
        resets that are left out.

    What to try:
        Replay a recorded episode before and after that step and compare observation by observation.

    When it is harmless:
        Levels or randomisation that you switched on at that step.

    References:
        Basseville and Nikiforov 1993, "Detection of Abrupt Changes" (changes against a process's own past).
    """
    found = moves_at_once(view, Link.ENVIRONMENT_DATA)
    if not isinstance(found, Detection):
        return found
    missed, share = (since(view.get(name), found.onset.lo) for name in (SURPRISE, PREDICTED))
    as_ever = missed.size and float(missed.max()) <= params.usual
    return None if as_ever or (share.size and float(share.min()) >= params.foreseen) else found


def since(points: Points | None, at: float) -> Floats:
    """Return the values [n] from step `at` on; none where nothing is known."""
    return np.empty(0) if points is None else points.value[points.step >= at]
