"""The check `action-kind-mismatch`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..trial import PolicyTrial


@check(
    "POC002",
    "action-kind-mismatch",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Use the policy head that belongs to the action space; for logits return the index.",
)
def look(trial: PolicyTrial) -> Answer:
    """The policy answers with another kind of action than the space asks for.

    What is measured:
        The kind of each answer: whole numbers where the space is discrete, real vectors where it is a Box.

    Why it hurts:
        A float index is cut to some action, an index is taken for a force: the environment runs and nothing fits.

    Usual causes:
        Logits returned instead of their argmax; a discrete head on a continuous task; the wrong policy class.

    What to try:
        Print one answer and the action space.

    When it is harmless:
        Never.

    References:
        Gymnasium, spaces.Discrete and spaces.Box.
    """
    if not trial.policy:
        return Skip("no policy was given")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))

    kinds = [np.asarray(a) for a in trial.answers]
    if trial.discrete:
        wrong = [a for a in kinds if a.dtype.kind not in "iub"]
        wanted, got = "discrete", "continuous"
    elif trial.box:
        wrong = [a for a in kinds if (a.dtype.kind in "iub" and a.ndim == 0) or a.dtype.kind not in "biuf"]
        wanted, got = "continuous", "discrete"
    else:
        return Skip("the action space is neither a Box nor discrete")
    if not wrong:
        return None
    if wrong[0].dtype.kind not in "biufc":
        got = "no numbers"
    return Symptom(
        f"the policy answers are {got} (type {wrong[0].dtype}), the action space is {wanted}: {len(wrong)} of "
        f"{len(kinds)}",
        "action",
        {"wrong": len(wrong), "answers": len(kinds), "type": str(wrong[0].dtype), "shape": str(wrong[0].shape)},
    )
