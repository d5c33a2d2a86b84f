"""The rule `entropy-coefficient-jumps`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

ALPHA = "sac/alpha"
NAMES = (ALPHA, "policy/ent_coef")


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-coefficient-jumps`. Engineering defaults."""

    factor: float = 10.0
    """Times the largest of the rows before: a temperature that is learned moves by its rate, and schedules fall."""
    fall: float = 100.0
    """The least of the rows before, over what is left of a temperature that is learned. A schedule may end at 0."""
    rows: int = 8
    """Rows before that say what is usual."""
    lasts: int = 3
    """Rows in a row that must show it; of a temperature below 0 one says it, as none may be there."""


SAC = synth.like("SAC")
USUAL = synth.clipped(synth.walk(0.2, 0.01), 0.05, 0.4)
CASES = (
    fires(
        "a hundred times as large at once", lambda: SAC({"sac/alpha": synth.after(0.5, synth.constant(20.0), USUAL)})
    ),
    fires("the bonus of PPO", lambda: synth.like("PPO")({"policy/ent_coef": synth.jump(0.01, 1.0, at=0.5, noise=0.0)})),
    fires("gone at once", lambda: SAC({ALPHA: synth.after(0.5, synth.constant(1e-9), USUAL)})),
    fires("its logarithm is taken for it", lambda: SAC({ALPHA: synth.jump(0.05, -3.0, at=0.5, noise=0.0)})),
    near_miss("below 0 all along", lambda: SAC({ALPHA: synth.constant(-3.0)})),
    near_miss("a bonus that ends", lambda: synth.like("PPO")({NAMES[1]: synth.jump(0.01, 0.0, at=0.5, noise=0.0)})),
    healthy("learned", lambda: SAC({"sac/alpha": USUAL})),
    near_miss("it grows by degrees", lambda: SAC({"sac/alpha": synth.geometric(0.2, 20.0, 0.0)})),
    near_miss("a schedule goes down", lambda: SAC({"sac/alpha": synth.jump(1.0, 0.05, at=0.5, noise=0.0)})),
    near_miss("one odd row", lambda: SAC({"sac/alpha": synth.spikes(0.2, 20.0, at=(0.5,))})),
)


@rule(
    "EXP027",
    "entropy-coefficient-jumps",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    any_of=(NAMES,),
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=(
        "alpha-runaway",
        "weights-changed-outside",
        "return-collapse",
        "policy-turns-uniform",
        "value-loss-explosion",
        "q-over-bound",
        "action-std-growth",
        "action-std-collapse",
        "actor-at-rest",
        "alpha-collapse",
        "entropy-growing",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The weight of entropy in the objective became many times larger, or next to nothing, from one row to the next.

    What it means:
        The coefficient of the entropy bonus, or SAC's temperature, left all its earlier values at once and stays there;
        or the temperature, which is the exponent of what is learned, went below 0.

    Why it matters:
        From here on being random pays more than the task does, or nothing at all.

    Usual causes:
        A schedule in other units; a checkpoint or a configuration of another run; logarithm and value exchanged.

    What to try:
        Print the coefficient in force at every update, and who sets it.

    When it is harmless:
        A phase of exploration that was switched on purpose.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, section 5 (the temperature as a variable that is learned).
    """
    for name in NAMES:
        points = view.get(name)
        place = None if points is None else left(points.value, learned=name == ALPHA, params=params)
        if points is not None and place is not None:
            before, now = float(points.value[place - 1]), float(points.value[place])
            return Detection(
                message=f"the entropy coefficient went from {before:.3g} to {now:.3g} at once",
                onset=view.onset(points.step[place - 1], points.step[place]),
                metric=name,
                evidence={"before": before, "now": now},
            )
    return None


def left(value: Floats, *, learned: bool, params: Params) -> int | None:
    """Return where a coefficient left all its earlier values: upwards, or where it is learned also far downwards."""
    below = int(np.argmax(value < 0)) if learned and bool((value < 0).any()) else 0
    if below >= params.rows:
        return below
    most, least = np.maximum.accumulate(value), np.minimum.accumulate(value)
    for place in range(params.rows, value.size - params.lasts + 1):
        now, high, low = value[place : place + params.lasts], float(most[place - 1]), float(least[place - 1])
        if high > 0 and np.all(now >= params.factor * high):
            return place
        if learned and low > 0 and np.all(now <= low / params.fall):
            return place
    return None
