"""The check `crash-on-extreme-action`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..fuzz import fuzz_of
from ..recorded import NOTHING
from ..world import World


@check(
    "PEN048",
    "crash-on-extreme-action",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Make step survive every action of its declared space.",
)
def look(world: World) -> Answer:
    """Extreme actions make the environment raise.

    What is measured:
        Corners of the action space, held, alternated and drawn at random for up to 100 steps; for discrete spaces each
        action held. A failure is reduced to a short list of actions.

    Why it hurts:
        An untrained or saturated policy plays corners all the time; a crash after hours of training loses the run.

    Usual causes:
        An index computed from the action; a division that is 0 exactly at the bound; a solver without a fallback.

    What to try:
        Replay the seed and the actions of the evidence in a debugger.

    When it is harmless:
        Never inside the declared bounds.

    References:
        unitree_rl_lab issue 13 (unbounded actions).
    """
    if not world.episodes:
        return NOTHING
    fuzz = fuzz_of(world)
    if not fuzz.runs:
        return Skip("the action space has no corners to try")
    broken = fuzz.first("raised")
    if broken is None:
        return None
    return Symptom(
        f"raised after {len(broken.actions)} extreme actions: {broken.what}"[:120],
        "step",
        {
            "actions_steps": len(broken.actions),
            "seed": broken.seed,
            "actions": repr([np.asarray(a).tolist() for a in broken.actions])[:400],
            "error": broken.what,
        },
        at=Onset(len(broken.actions), len(broken.actions), "env_steps"),
    )
