"""The check `policy-raises`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..trial import PolicyTrial


@check(
    "POC001",
    "policy-raises",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Make the policy take a single observation as the environment gives it.",
)
def look(trial: PolicyTrial) -> Answer:
    """The policy raises on an observation of the environment.

    What is measured:
        The policy is called with the observations it visits, as reset and step return them.

    Why it hurts:
        Nothing can be trained or evaluated.

    Usual causes:
        An observation that is expected as a batch or as a tensor; keys of a dictionary that are missing; another
        environment's shape.

    What to try:
        Call the policy with the first observation in a debugger.

    When it is harmless:
        Never.

    References:
        Gymnasium, Env.reset and Env.step.
    """
    if not trial.policy:
        return Skip("no policy was given")

    if not trial.error:
        return None
    return Symptom(
        f"the policy raised at its observation {trial.error_step}: {trial.error}"[:120],
        "policy",
        {"step": trial.error_step, "error": trial.error},
    )
