"""The rule `copy-hangs`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

HELD = "env/held_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `copy-hangs`. Engineering defaults; what they count is exact."""

    before: int = 16
    """Earlier rows, each of 64 steps or more, of which not one step left the observation as it was."""
    rows: int = 8
    """Rows in a row in which the very share of some of the copies is held."""
    rounding: float = 1e-6
    """Distance from that share: records keep seven digits."""


EIGHT = synth.like("PPO", config={"n_envs": 8})
CASES = (
    fires("one of eight copies stands still", lambda: EIGHT({HELD: synth.jump(0.0, 0.125, 0.5, 0)})),
    fires("three of eight", lambda: EIGHT({HELD: synth.jump(0.0, 0.375, 0.5, 0)})),
    healthy("every step shows something new", lambda: EIGHT({HELD: synth.constant(0.0)})),
    near_miss("no whole number of copies", lambda: EIGHT({HELD: synth.jump(0.0, 0.2, 0.5, 0)})),
    near_miss("agents come to rest, now more, now fewer", lambda: EIGHT({HELD: synth.jump(0.0, 0.125, 0.5, 0.3)})),
    near_miss("walls hold an agent from the first row", lambda: EIGHT({HELD: synth.flat(0.125, 0.2)})),
    near_miss("all of them: the task may rest at its goal", lambda: EIGHT({HELD: synth.jump(0.0, 1.0, 0.5, 0)})),
    near_miss("one copy", lambda: synth.like("PPO", config={"n_envs": 1})({HELD: synth.jump(0.0, 0.125, 0.5, 0)})),
)


@rule(
    "ENV042",
    "copy-hangs",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(HELD,),
    needs_config=("n_envs",),
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("dynamics-changed", "reward-redefined", "return-collapse", "explained-variance-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Some copies of the environment show one and the same observation at every step.

    What it means:
        In no earlier row did a step leave the observation exactly as it was; now, row after row, the very share of
        steps that belongs to a whole number of copies does.

    Why it matters:
        A share of every batch is the same dead transition over and over; statistics of episodes do not show it, as the
        copy ends none.

    Usual causes:
        A simulator that crashed or waits, and whose wrapper repeats the last answer; a lost connection; a copy that is
        stepped after its end and never reset.

    What to try:
        Print the observations of each copy over ten steps; restart the ones that do not change.

    When it is harmless:
        Where an agent may rest for long stretches; it would hardly be a whole number of them at every step.

    References:
        None; the share is counted exactly.
    """
    held, copies = view.get(HELD), view.number("n_envs")
    assert held is not None
    if copies is None or copies < 2:
        return Skip("one copy of the environment: if it hangs, training waits")
    value = held.value
    moving = np.cumsum(value > 0) == 0
    start = int(np.count_nonzero(moving))
    if start < params.before or value.size - start < params.rows:
        return None
    share = float(np.median(value[start + 1 : start + params.rows]))
    hung = round(share * copies)
    alike = np.abs(value[start + 1 : start + params.rows] - hung / copies) <= params.rounding
    if not 0 < hung < copies or not alike.all():
        return None
    return Detection(
        message=f"{hung} of {copies:.0f} copies show the same observation at every step",
        onset=view.onset(float(held.step[start - 1]), float(held.step[start])),
        metric=HELD,
        evidence={"copies": hung, "held_frac": share, "rows_before": start},
    )
