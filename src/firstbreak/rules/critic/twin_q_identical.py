"""The rule `twin-q-identical`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `twin-q-identical`; engineering defaults where no source is named."""

    points: int = 3
    """Points at which the twins must agree to the last digit. Two independent float32 networks agree by chance about
    once in 10 million; logs rounded to four digits make it likelier, hence three."""


SAC = synth.like("SAC")
SAME = synth.ramp(-20, -70, 0.0)

CASES = (
    fires("equal means", lambda: SAC({"critic/q_mean": SAME, "critic/q2_mean": SAME})),
    fires("gap exactly 0", lambda: SAC({"critic/twin_gap": synth.constant(0.0)})),
    healthy("two critics", lambda: SAC({})),
    near_miss("close, not equal", lambda: SAC({"critic/twin_gap": synth.clipped(synth.flat(1e-4), 1e-6, 1)})),
    near_miss(
        "both 0 before learning starts",
        lambda: SAC(
            {
                "critic/q_mean": synth.after(0.2, synth.flat(-30), synth.constant(0.0)),
                "critic/q2_mean": synth.after(0.2, synth.flat(-31), synth.constant(0.0)),
            }
        ),
    ),
)


@rule(
    "CRT007",
    "twin-q-identical",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    any_of=(("critic/twin_gap", "critic/q2_mean"),),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("q-exceeds-return", "q-over-bound"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The two critics are one and the same: they agree to the last digit.

    What it means:
        Twin critics that start with equal weights and see equal batches stay equal for ever, so the smaller of the
        two is just the one.

    Why it matters:
        Clipped double Q-learning is off without anyone having switched it off, and overestimation is back.

    Usual causes:
        Both critics built from the same module or the same seed; the second one's optimiser or loss missing.

    What to try:
        Compare the first layers' weights; build the second critic with its own initialisation.

    When it is harmless:
        Before learning starts both may read 0; such rows are left out.

    References:
        Fujimoto et al. 2018, arXiv 1802.09477, section 4.2.
    """
    gap = view.get("critic/twin_gap")
    first, second = view.get("critic/q_mean"), view.get("critic/q2_mean")
    if first is not None and second is not None:
        step, at_first, at_second = np.intersect1d(first.step, second.step, return_indices=True)
        one, two = first.value[at_first], second.value[at_second]
        live = (one != 0) | (two != 0)
        step, difference = step[live], np.abs(one - two)[live]
        metric = "critic/q2_mean"
    elif gap is not None:
        step, difference, metric = gap.step, gap.value, gap.metric
    else:
        return Skip("only one of the two critics is logged", ("critic/q_mean", "critic/twin_gap"))
    if gap is not None and len(gap) >= params.points and not gap.value.any():
        step, difference, metric = gap.step, gap.value, gap.metric
    loss = view.get("critic/loss")
    if loss is not None and len(loss):
        learning = np.interp(step, loss.step, loss.value) != 0
        step, difference = step[learning], difference[learning]
    if difference.size < params.points or difference.any():
        return None
    return Detection(
        message=f"both critics give exactly the same values at all {difference.size} points",
        onset=view.onset(step[0]),
        metric=metric,
        evidence={"points": int(difference.size), "gap": 0.0},
    )
