"""The check `action-shape-mismatch`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..trial import PolicyTrial


@check(
    "POC003",
    "action-shape-mismatch",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Return one action of the shape of the space, without a batch axis.",
    explained_by=("action-kind-mismatch",),
)
def look(trial: PolicyTrial) -> Answer:
    """The policy's actions have another shape than the action space.

    What is measured:
        The shape of each answer against that of the space.

    Why it hurts:
        An extra axis broadcasts silently: one number drives all actuators, or a batch of one becomes a matrix.

    Usual causes:
        A batch axis that is not taken off; a squeeze too many; the wrong number of outputs.

    What to try:
        Print one answer and the action space.

    When it is harmless:
        Never.

    References:
        Gymnasium, Space.contains.
    """
    if not trial.policy:
        return Skip("no policy was given")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))

    if not (trial.discrete or trial.box):
        return Skip("the action space is neither a Box nor discrete")
    wanted = tuple(trial.action_space.shape or ())
    shapes = [np.shape(a) for a in trial.answers]
    wrong = [s for s in shapes if s != wanted]
    if not wrong:
        return None
    return Symptom(
        f"the policy's action has shape {wrong[0]}, expected {wanted}: {len(wrong)} of {len(shapes)} answers",
        "action",
        {"wrong": len(wrong), "answers": len(shapes), "shape": str(wrong[0]), "expected": str(wanted)},
    )
