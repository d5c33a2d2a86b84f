"""The rule `observation-entry-stuck`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

STUCK = "obs/stuck_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `observation-entry-stuck`."""

    most: float = 0.0
    """Share of entries that may: none by definition, as the metric counts those of which all says that they move."""


PPO = synth.like("PPO")
CASES = (
    fires("one of four entries stands still", lambda: PPO({STUCK: synth.jump(0.0, 0.25, 0.6, 0.0)})),
    healthy("all go on moving", lambda: PPO({STUCK: synth.constant(0.0)})),
    near_miss("one stood still, but nothing says that it should not", lambda: PPO({STUCK: synth.constant(0.0)})),
)


@rule(
    "ENV140",
    "observation-entry-stuck",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(STUCK,),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "return-collapse",
        "return-falls-at-once",
        "dynamics-changed",
        "action-response-changed",
        "environment-moves-at-once",
        "environment-leaves-past",
        "world-slips-away",
        "foreseen-now-and-then",
        "transitions-unpredictable",
        "observation-shift",
        "explained-variance-collapse",
        "value-loss-explosion",
        "critic-loss-leaps",
        "critic-startled",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """An entry of the observation stands still that always moved, while the others go on.

    What it means:
        In sixteen steps on end of every copy an entry was, to the last bit, what it was one step before. Earlier it
        hardly ever was; it is at no end of its range; and what was learned of the world says that it moves.

    Why it matters:
        The policy acts on a value that is no longer true, and the critic learns that the task has become chance.

    Usual causes:
        A sensor or driver that answers with its last reading; an array that is filled in part; a column that is taken
        from a cache; an entry that is read before the simulator has written it.

    What to try:
        Print the observations of ten steps of one copy, entry by entry.

    When it is harmless:
        Where you froze it yourself: log `env/curriculum`.

    References:
        None: a fact about the data.
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    points = view.get(STUCK)
    assert points is not None
    places = np.flatnonzero(points.value > params.most)
    if not places.size:
        return None
    place = int(places[0])
    now = float(points.value[place])
    return Detection(
        message=f"{now:.0%} of the entries of the observation stand still that always moved",
        onset=view.onset(float(points.step[max(place - 1, 0)]), float(points.step[place])),
        metric=STUCK,
        evidence={"stuck_frac": now},
    )
