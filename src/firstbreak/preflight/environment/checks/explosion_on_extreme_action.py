"""The check `explosion-on-extreme-action`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..fuzz import fuzz_of
from ..recorded import NOTHING
from ..world import World


@check(
    "PEN050",
    "explosion-on-extreme-action",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Bound the actions, or the term that grows with them.",
    explained_by=("not-finite-on-extreme-action", "reward-size-absurd"),
)
def look(world: World) -> Answer:
    """Extreme actions drive rewards or observations beyond 1e8.

    What is measured:
        The largest reward and observation under corners of the action space; unbounded dimensions are pushed to 10, 1e3
        and 1e6.

    Why it hurts:
        Nothing keeps an unbounded Gaussian policy small: one large sample gives one huge penalty, and the critic never
        recovers.

    Usual causes:
        An unbounded action space with a squared action term; a penalty without a cap; a simulation that diverges
        without NaN.

    What to try:
        Declare bounds and clip the action before it enters the reward; cap the penalty.

    When it is harmless:
        A policy that is squashed to a small range never gets there.

    References:
        unitree_rl_lab issue 13: value loss from 0.1 to 1e12 in one iteration.
    """
    if not world.episodes:
        return NOTHING
    fuzz = fuzz_of(world)
    if not fuzz.runs:
        return Skip("the action space has no corners to try")
    broken = fuzz.first("reward-huge", "observation-huge")
    if broken is None:
        return None
    what = "reward" if broken.kind == "reward-huge" else "observation"
    return Symptom(
        f"the {what} reaches {broken.size:.1e} after {len(broken.actions)} actions of size {broken.reach:g}",
        what,
        {
            "size": broken.size,
            "action_size": broken.reach,
            "actions_steps": len(broken.actions),
            "seed": broken.seed,
            "actions": repr([np.asarray(a).tolist() for a in broken.actions])[:400],
        },
    )
