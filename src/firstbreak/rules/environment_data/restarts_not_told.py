"""The rule `restarts-not-told`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

RESTARTS = "env/restart_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `restarts-not-told`."""

    share: float = 0.06
    """Share of the newest 32 steps that must: two of them. One may be a hit or a goal. Engineering default."""


PPO = synth.like("PPO")
CASES = (
    fires("one step in eight begins anew", lambda: PPO({RESTARTS: synth.jump(0.0, 0.125, 0.6, 0.0)})),
    healthy("no step does", lambda: PPO({RESTARTS: synth.constant(0.0)})),
    near_miss("a single step of the newest did", lambda: PPO({RESTARTS: synth.spikes(0.0, 0.03, (0.6,), 0.0)})),
)


@rule(
    "ENV141",
    "restarts-not-told",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(RESTARTS,),
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
    """Steps in mid-episode lead to where episodes begin, and nothing says that an episode ended.

    What it means:
        Two or more of 32 steps ended no episode, and yet show an observation as the first of an episode is; from the
        observation before and the action nothing that was learned leads there, and no step did so before.

    Why it matters:
        Values are bootstrapped over a gap: what comes after a restart is credited to what came before it. A policy
        cannot learn what its actions lead to.

    Usual causes:
        A simulator that restarts after a crash or a limit of its own; a worker that is replaced; an environment that
        somebody else resets; `terminated` or `truncated` that is dropped on the way.

    What to try:
        Log the calls of `reset` beside the ends of episodes that the trainer sees; let a reset that nobody asked for
        return `truncated=True`.

    When it is harmless:
        A task that sets the agent back to the start, without end, whenever it fails or arrives.

    References:
        Pardo et al. 2018, "Time limits in reinforcement learning", arXiv 1712.00378 (ends that are not told).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    points = view.get(RESTARTS)
    assert points is not None
    places = np.flatnonzero(points.value >= params.share)
    if not places.size:
        return None
    place = int(places[0])
    now = float(points.value[place])
    return Detection(
        message=f"{now:.0%} of the newest steps begin an episode anew without an end before",
        onset=view.onset(float(points.step[max(place - 1, 0)]), float(points.step[place])),
        metric=RESTARTS,
        evidence={"restart_frac": now},
    )
