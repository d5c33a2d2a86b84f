"""The rule `epsilon-goes-back`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `epsilon-goes-back`."""

    high: float = 0.3
    """Epsilon that no published schedule ends on; usual floors are 0.01 to 0.1 (Mnih et al. 2015)."""
    rest: int = 10
    """Consecutive points at one epsilon below `high` after which the schedule is over. Engineering default."""
    rises: int = 5
    """Consecutive points, each above the one before, after which a schedule that was over counts as rising: none is
    known that goes up again by degrees. Engineering default."""
    risen: float = 0.01
    """Share of all actions by which they must rise in all: less is rounding, or no matter. Engineering default."""


DQN = synth.like("DQN", clock="env_steps", step=500.0)
EPSILON = "dqn/epsilon"
FALLS = synth.ramp(1.0, 0.05, 0.0, until=0.3)

CASES = (
    fires(
        "back to 1 long after the schedule was over", lambda: DQN({EPSILON: synth.after(0.6, synth.constant(1), FALLS)})
    ),
    fires(
        "the schedule starts again",
        lambda: DQN({EPSILON: synth.after(0.6, synth.ramp(1.0, 0.05, 0.0, begin=0.6, until=0.9), FALLS)}),
    ),
    fires(
        "rises by degrees after the schedule was over",
        lambda: DQN({EPSILON: synth.after(0.6, synth.ramp(0.05, 1.0, 0.0, begin=0.6), FALLS)}),
    ),
    healthy("usual schedule", lambda: DQN({EPSILON: FALLS})),
    near_miss("starts again while it still falls", lambda: DQN({EPSILON: synth.after(0.28, synth.constant(1), FALLS)})),
    near_miss(
        "a hair more with every point, by rounding",
        lambda: DQN({EPSILON: synth.after(0.6, synth.ramp(0.05, 0.0501, 0.0, begin=0.6), FALLS)}),
    ),
    near_miss("a little more at the end", lambda: DQN({EPSILON: synth.after(0.6, synth.constant(0.1), FALLS)})),
)


@rule(
    "EXP030",
    "epsilon-goes-back",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(EPSILON,),
    when=("epsilon_greedy",),
    min_points=11,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
    implies=("epsilon-stays-high", "reward-flat", "return-collapse", "train-eval-gap", "smooth-decline"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Epsilon goes back up from the floor at which its schedule had ended.

    What it means:
        Epsilon stood at one value, and the next row has 0.3 or more, or each of the next rows has more than the last.

    Why it matters:
        From there on more and more actions are random: the return falls, and the replay fills with what the policy
        would not do.

    Usual causes:
        A schedule that is computed anew at a resume or counts the steps of the new call; a setting that was changed by
        hand or by a callback; start and end exchanged, or progress counted where what is left is meant.

    What to try:
        Print epsilon beside the step that its schedule is asked with.

    When it is harmless:
        When exploration is meant to start again: another task, a cycle.

    References:
        Mnih et al. 2015, Nature 518, extended data table 1 (a schedule that ends for good).
    """
    epsilon = view.get(EPSILON)
    assert epsilon is not None
    value, places = epsilon.value, np.arange(len(epsilon))
    since = np.maximum.accumulate(np.where(np.diff(value, prepend=value[:1]) != 0, places, 0))  # where it changed last
    stood = (places - since + 1 >= params.rest)[:-1]
    back = np.flatnonzero(stood & (value[:-1] < params.high) & (value[1:] >= params.high))
    up = climbing(value, stood, params)
    at = min([*back[:1].tolist(), *up[:1].tolist()], default=None)
    if at is None:
        return None
    way, now = ("to", value[at + 1]) if at in back else ("up by degrees, to", value[at + params.rises])
    return Detection(
        message=f"epsilon stood at {value[at]:.3g} and goes back {way} {now:.3g}",
        onset=view.onset(float(epsilon.step[at]), float(epsilon.step[at + 1])),
        metric=EPSILON,
        evidence={"epsilon": float(now), "floor": float(value[at])},
    )


def climbing(
    value: Floats, stood: np.ndarray[tuple[int], np.dtype[np.bool_]], params: Params
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the places where epsilon `value` [n] leaves the floor on which it `stood` [n - 1], to rise and rise."""
    rising = np.diff(value) > 0
    starts = rising.size - params.rises + 1
    if starts < 1:
        return np.empty(0, dtype=np.intp)
    steady = np.logical_and.reduce([rising[shift : shift + starts] for shift in range(params.rises)])
    enough = value[params.rises :][:starts] - value[:starts] >= params.risen
    return np.flatnonzero(stood[:starts] & (value[:starts] < params.high) & steady & enough)
