"""The check `action-type-mismatch`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..trial import PolicyTrial


@check(
    "POC006",
    "action-type-mismatch",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Return floats.",
)
def look(trial: PolicyTrial) -> Answer:
    """The policy returns whole numbers where the space asks for real ones.

    What is measured:
        The number type of array answers for a Box of floats.

    Why it hurts:
        Actions between the whole numbers cannot be taken; within [-1, 1] only -1, 0 and 1 are left.

    Usual causes:
        A cast to int; rounding left over from a discrete task.

    What to try:
        Print one answer with its dtype.

    When it is harmless:
        float64 for float32 is harmless and is not reported.

    References:
        Gymnasium, spaces.Box.
    """
    if not trial.policy:
        return Skip("no policy was given")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))

    if not trial.box or np.dtype(trial.action_space.dtype).kind != "f":
        return Skip("the action space is not a Box of floats")
    kinds = [np.asarray(a).dtype for a in trial.answers if np.ndim(a) > 0]
    wrong = [k for k in kinds if k.kind in "iub"]
    if not wrong:
        return None
    return Symptom(
        f"the policy's action has type {wrong[0]}, expected {trial.action_space.dtype}: {len(wrong)} of "
        f"{len(kinds)} answers",
        "action",
        {"wrong": len(wrong), "answers": len(kinds), "type": str(wrong[0])},
    )
