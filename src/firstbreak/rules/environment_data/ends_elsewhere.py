"""The rule `ends-elsewhere`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

INSIDE = "env/ends_inside_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `ends-elsewhere`."""

    share: float = 1.0
    """Share of the newest four ends that must: all. Engineering default: where an episode ends by a bound on no
    entry, some lie inside now and then (a double pendulum: two of four, once, 2026-11-26)."""


PPO = synth.like("PPO")
CASES = (
    fires("the newest ends lie where episodes went on", lambda: PPO({INSIDE: synth.jump(0.0, 1.0, 0.6, 0.0)})),
    healthy("all ends pass a bound", lambda: PPO({INSIDE: synth.constant(0.0)})),
    near_miss("three of the newest four did not", lambda: PPO({INSIDE: synth.spikes(0.0, 0.75, (0.6,), 0.0)})),
)


@rule(
    "ENV142",
    "ends-elsewhere",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(INSIDE,),
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
        "episodes-too-short",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Episodes end where they went on before: what counts as lost, or as done, is another thing now.

    What it means:
        Every end passed a bound that no observation after which an episode went on had passed: so ends a task that ends
        when something leaves its range. Now the newest ends lie well within, are paid as ends were, and are not
        those of the longest episodes.

    Why it matters:
        States that the policy was right to be in are punished all at once; values of all that leads there are wrong.

    Usual causes:
        A bound that is read in other units, a tolerance that was tightened, a check on the wrong entry; a flag that
        stays set; an exception that is answered with `terminated`.

    What to try:
        Print the last observation and the reason of the end of ten episodes, before and after.

    When it is harmless:
        Where you changed what ends an episode: log `env/curriculum`.

    References:
        None: a fact about the data.
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    points = view.get(INSIDE)
    assert points is not None
    places = np.flatnonzero(points.value >= params.share)
    if not places.size:
        return None
    place = int(places[0])
    now = float(points.value[place])
    return Detection(
        message=f"{now:.0%} of the newest ends lie where episodes went on before, as none did",
        onset=view.onset(float(points.step[max(place - 1, 0)]), float(points.step[place])),
        metric=INSIDE,
        evidence={"ends_inside_frac": now},
    )
