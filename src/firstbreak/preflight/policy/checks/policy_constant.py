"""The check `policy-constant`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..asking import alike
from ..trial import PolicyTrial

LEAST = 20
"""Different observations."""


@check(
    "POC008",
    "policy-constant",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Check the last layer and what the network gets as input.",
)
def look(trial: PolicyTrial) -> Answer:
    """The policy returns the same action for every observation.

    What is measured:
        All answers against each other, bit for bit.

    Why it hurts:
        It does not look at the observation; no gradient of the environment can tell it to.

    Usual causes:
        A last layer that is zero; an observation that is normalised to 0; a dead network; argmax over equal values.

    What to try:
        Print the activations of the last hidden layer for two observations.

    When it is harmless:
        A freshly initialised discrete policy may prefer one action everywhere.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990 (small last layer: small, not zero).
    """
    if not trial.policy:
        return Skip("no policy was given")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))

    if trial.distinct_observations < LEAST:
        return Skip(f"it was asked with {trial.distinct_observations} different observations only")
    first = trial.answers[0]
    if not all(alike(first, a) for a in (*trial.answers, *trial.again)):
        return None
    return Symptom(
        f"the policy gives the same action for all {trial.distinct_observations} observations: it does not "
        "depend on them",
        "action",
        {
            "observations": trial.distinct_observations,
            "answers": len(trial.answers),
            "action": repr(first)[:80],
        },
        severity=Severity.INFO if trial.discrete else None,
    )
