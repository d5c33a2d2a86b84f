"""The rule `components-cancel`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, began, moved, together
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `components-cancel`. Engineering defaults where no source is named."""

    correlation: float = -0.8
    """Correlation of two components over the rows."""
    left: float = 0.3
    """Movement of the total over that of the smaller of the two, under which they undo each other."""
    z: float = 5.0
    """Standard errors by which each of the two must have moved."""
    rows: int = 30
    """Rows that a correlation needs."""


GRPO = synth.like("GRPO")
CASES = (
    fires(
        "what one gives the other takes",
        lambda: GRPO(
            {
                "reward/component@progress": synth.ramp(0, 1, 0.02),
                "reward/component@energy": synth.ramp(0, -1, 0.02),
                "reward/train_mean": synth.flat(0.05, 0.5),
            }
        ),
    ),
    healthy(
        "both rise",
        lambda: GRPO(
            {
                "reward/component@progress": synth.ramp(0, 1),
                "reward/component@energy": synth.ramp(-0.5, -0.2),
                "reward/train_mean": synth.ramp(-0.5, 0.8),
            }
        ),
    ),
    near_miss(
        "costs a little of what it gains",
        lambda: GRPO(
            {
                "reward/component@progress": synth.ramp(0, 1),
                "reward/component@energy": synth.ramp(0, -0.2),
                "reward/train_mean": synth.ramp(0, 0.8),
            }
        ),
    ),
)


@rule(
    "RWD012",
    "components-cancel",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(TRAIN,),
    min_points=30,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("reward-flat",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Two reward components move against each other so that the total stays where it was.

    What it means:
        Both have moved clearly, in opposite directions and by about the same amount.

    Why it matters:
        The sum has no slope to follow although its terms have; progress on one is paid for with the other.

    Usual causes:
        A cost that grows with the very behaviour that is rewarded; a sign error in one term; weights out of balance.

    What to try:
        Log the terms alone; halve the weight of the cost for a short run.

    When it is harmless:
        A real trade-off that has reached its balance.

    References:
        Engineering defaults; see the parameters.
    """
    total = view.get(*TRAIN)
    assert total is not None
    parts = {n: p for n, p in view.family("reward/component").items() if len(p) >= params.rows}
    if len(parts) < 2:
        return Skip("needs two reward components", ("reward/component",))
    moves = {n: moved(p) for n, p in parts.items()}
    shift = abs(moved(total).difference)
    for up, rise in moves.items():
        for down, fall in moves.items():
            if rise.z < params.z or fall.z > -params.z or together(parts[up], parts[down]) > params.correlation:
                continue
            if shift > params.left * min(rise.difference, -fall.difference):
                continue
            return Detection(
                message=f"{up[:24]} {rise.difference:+.3g}, {down[:24]} {fall.difference:+.3g}, total {shift:.2g}",
                onset=began(view, parts[down]),
                metric=total.metric,
                evidence={
                    "rising": up,
                    "falling": down,
                    "gain": rise.difference,
                    "loss": -fall.difference,
                    "total": shift,
                },
            )
    return None
