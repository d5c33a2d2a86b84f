"""The check `action-not-finite`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..trial import PolicyTrial


@check(
    "POC004",
    "action-not-finite",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Find the first layer that is not finite.",
)
def look(trial: PolicyTrial) -> Answer:
    """The policy returns NaN or infinity.

    What is measured:
        Every entry of every answer.

    Why it hurts:
        The simulator turns it into NaN observations, and they into NaN weights.

    Usual causes:
        An observation outside the range the network was built for; a logarithm of a standard deviation that ran away.

    What to try:
        Feed the observation named to the network layer by layer.

    When it is harmless:
        Never.

    References:
        ray issue 7853 (log standard deviation unbounded).
    """
    if not trial.policy:
        return Skip("no policy was given")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))

    actions = trial.fitting()
    if actions is None:
        return Skip("no answer has the size of an action", ("answers of the right size",))
    wrong = np.asarray(~np.isfinite(actions).all(axis=1), bool)
    if not wrong.any():
        return None
    return Symptom(
        f"the policy's action is not finite in {int(wrong.sum())} of {len(wrong)} answers, first at answer "
        f"{int(np.argmax(wrong)) + 1}",
        "action",
        {"wrong": int(wrong.sum()), "answers": len(wrong), "first_step": int(np.argmax(wrong)) + 1},
    )
