"""The rule `discount-moved`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

DISCOUNT = "critic/discount"


@dataclass(frozen=True)
class Params:
    """Thresholds of `discount-moved`. Engineering defaults."""

    times: float = 3.0
    """Factor by which the horizon 1 / (1 - gamma) changes in one row: 0.99 to 0.97 and less, or to 0.9967 and more.
    Published schedules raise it by a few per cent a row (Francois-Lavet et al. 2015, arXiv 1512.02011)."""
    rest: int = 4
    """Rows before that had one and the same discount."""
    lasts: int = 2
    """Rows in a row that keep the new one."""


SAC = synth.like("SAC")
CASES = (
    fires("0.99 becomes 0.1", lambda: SAC({DISCOUNT: synth.jump(0.99, 0.1, 0.6, 0.0)})),
    fires("0.9 becomes 0.999", lambda: SAC({DISCOUNT: synth.jump(0.9, 0.999, 0.6, 0.0)})),
    healthy("one discount throughout", lambda: SAC({DISCOUNT: synth.constant(0.99)})),
    near_miss("a schedule that raises it", lambda: SAC({DISCOUNT: synth.ramp(0.95, 0.997, 0.0)})),
    near_miss("a small correction", lambda: SAC({DISCOUNT: synth.jump(0.99, 0.985, 0.6, 0.0)})),
    near_miss("one row of another estimator", lambda: SAC({DISCOUNT: synth.spikes(0.99, 0.5, (0.6,), 0.0)})),
)


@rule(
    "CRT025",
    "discount-moved",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(DISCOUNT,),
    min_points=6,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "targets-shrink",
        "explained-variance-collapse",
        "value-loss-explosion",
        "values-jump",
        "policy-loss-spike",
        "return-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The discount in force changed from one row to the next, by a factor that no schedule takes at once.

    What it means:
        The number of steps whose rewards count, 1 / (1 - gamma), stood at one value and is now a third of it or less,
        or three times as much or more.

    Why it matters:
        All values that were learned are of another horizon. With a smaller one, what comes later in an episode stops to
        count, and the policy unlearns what it did for it.

    Usual causes:
        Two settings exchanged, such as gamma and lambda or gamma and tau; a configuration that was read anew at a
        resume; a discount per second taken as one per step; a sweep or callback that set it on the wrong object.

    What to try:
        Print the discount that the loss uses beside the configured one; find who wrote it at that step.

    When it is harmless:
        A change that you planned; values then take some time to follow.

    References:
        Sutton and Barto 2018, "Reinforcement Learning", section 3.3 (returns and discounting).
    """
    points = view.get(DISCOUNT)
    assert points is not None
    value = points.value
    proper = np.all((value >= 0) & (value < 1))
    if not proper:
        return None  # `discount-out-of-range` says so
    left = 1 - value
    change = left[1:] / left[:-1]
    for place in np.flatnonzero(np.maximum(change, 1 / change) >= params.times) + 1:
        before, now = left[max(place - params.rest, 0) : place], left[place : place + params.lasts]
        alike = before.size == params.rest and now.size == params.lasts and np.ptp(before) == 0 and np.ptp(now) == 0
        if alike:
            return Detection(
                message=f"the discount went from {value[place - 1]:.5g} to {value[place]:.5g} in one row",
                onset=view.onset(float(points.step[place - 1]), float(points.step[place])),
                metric=DISCOUNT,
                evidence={"before": float(value[place - 1]), "now": float(value[place])},
            )
    return None
