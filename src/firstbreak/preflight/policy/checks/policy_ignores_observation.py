"""The check `policy-ignores-observation`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..trial import PolicyTrial

LEAST = 100
"""Different observations; the share then has an error of about 0.1."""
MOST_FRAC = 0.05


@check(
    "POC009",
    "policy-ignores-observation",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.INFO,
    fix="Nothing to do before training; after it, check the network's input.",
)
def look(trial: PolicyTrial) -> Answer:
    """The policy's actions vary, but no more between observations than for one and the same.

    What is measured:
        Two answers to each observation: the variance between answers to one observation against the variance of all
        answers.

    Why it hurts:
        The action is noise that the observation does not move.

    Usual causes:
        A standard deviation far above what the mean does; an untrained network; an input that is normalised to 0.

    What to try:
        Look at the mean of the policy instead of a sample.

    When it is harmless:
        An untrained policy: almost pure noise is how PPO starts.

    References:
        Intraclass correlation, Shrout & Fleiss 1979.
    """
    if not trial.policy:
        return Skip("no policy was given")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))

    first, second = trial.fitting(), _fitting_again(trial)
    if first is None or second is None or len(first) != len(second) or trial.distinct_observations < LEAST:
        return Skip("too few answers of the right size")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return Skip("answers are not finite; that comes first")
    total = np.concatenate([first, second]).var(axis=0).sum()
    within = 0.5 * ((first - second) ** 2).mean(axis=0).sum()
    if total <= 0 or within <= 0:
        return None
    share = float(1 - within / total)
    if share >= MOST_FRAC:
        return None
    return Symptom(
        f"the observation explains {100 * max(share, 0):.0f} % of the variance of the actions ({len(first)} "
        "observations)",
        "action",
        {"explained_frac": share, "answers": len(first)},
    )


def _fitting_again(trial: PolicyTrial) -> NDArray[np.float64] | None:
    return replace(trial, answers=trial.again).fitting()
