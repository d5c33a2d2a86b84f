"""The check `not-finite-on-extreme-action`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..fuzz import fuzz_of
from ..recorded import NOTHING
from ..world import World


@check(
    "PEN049",
    "not-finite-on-extreme-action",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Bound the quantity that diverges, or end the episode before it does.",
    explained_by=("observation-not-finite", "reward-not-finite"),
)
def look(world: World) -> Answer:
    """Extreme actions turn observations or rewards into NaN or infinity.

    What is measured:
        Corners of the action space, held, alternated and drawn at random for up to 100 steps. What breaks is reduced to
        a short list of actions.

    Why it hurts:
        Random play is mild; a policy that saturates holds the corners, and one NaN ends the run.

    Usual causes:
        An integrator that diverges; a root or logarithm outside its domain; a contact solver at its limit.

    What to try:
        Replay the seed and the actions of the evidence; shorten the time step or bound the quantity named.

    When it is harmless:
        Never inside the declared bounds.

    References:
        mujocolab/mjlab issue 224 and pull request 238.
    """
    if not world.episodes:
        return NOTHING
    fuzz = fuzz_of(world)
    if not fuzz.runs:
        return Skip("the action space has no corners to try")
    broken = fuzz.first("observation-not-finite", "reward-not-finite")
    if broken is None:
        return None
    what = "observation" if broken.kind.startswith("observation") else "reward"
    return Symptom(
        f"the {what} becomes {broken.what} after {len(broken.actions)} extreme actions (seed {broken.seed})",
        what,
        {
            "actions_steps": len(broken.actions),
            "seed": broken.seed,
            "actions": repr([np.asarray(a).tolist() for a in broken.actions])[:400],
        },
        at=Onset(len(broken.actions), len(broken.actions), "env_steps"),
    )
