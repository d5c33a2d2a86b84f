"""The check `action-outside-bounds`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..trial import PolicyTrial

LEAST_FRAC = 0.01
MANY_FRAC = 0.05
MOST_FRAC = 0.5
"""Where most actions are clipped, the executed policy is another one than the trained one."""


@check(
    "POC005",
    "action-outside-bounds",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Squash the output to the bounds, and compute the log-prob of the squashed action.",
    explained_by=("action-kind-mismatch",),
)
def look(trial: PolicyTrial) -> Answer:
    """The policy's actions leave the bounds of the action space: it is not squashed.

    What is measured:
        The share of answers with an entry outside the declared bounds, or of indices that do not exist.

    Why it hurts:
        The environment clips them after their log-prob was computed: the update credits actions that were never
        executed.

    Usual causes:
        A Gaussian without tanh or clipping; a standard deviation far above the range; outputs that are not rescaled.

    What to try:
        Squash with tanh and scale to the bounds, or start with a smaller standard deviation.

    When it is harmless:
        A Gaussian that is clipped in a few steps of a hundred, as PPO commonly is: a note below 5 %.

    References:
        tianshou issue 332; Chou, Maturana & Scherer 2017 (bounded actions).
    """
    if not trial.policy:
        return Skip("no policy was given")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))

    actions = trial.fitting()
    if actions is None or not (trial.box or trial.discrete):
        return Skip("no answer has the size of an action", ("answers of the right size",))
    if trial.box:
        low, high = np.ravel(trial.action_space.low).astype(float), np.ravel(trial.action_space.high).astype(float)
        slack = 1e-5 * np.where(np.isfinite(high - low), high - low, 1.0)
    else:
        low = np.array([float(getattr(trial.action_space, "start", 0))])
        high, slack = low + int(trial.action_space.n) - 1, np.zeros(1)
    outside = ((actions < low - slack) | (actions > high + slack)).any(axis=1)
    share = float(outside.mean())
    if share < LEAST_FRAC:
        return None
    severity = Severity.ERROR if share >= MOST_FRAC or trial.discrete else None if share >= MANY_FRAC else Severity.INFO
    what = "lie outside the bounds" if trial.box else f"do not exist (there are {low[0]:.0f} to {high[0]:.0f})"
    why = ": not squashed" if trial.box else ""
    return Symptom(
        f"{100 * share:.0f} % of {len(actions)} actions {what}, up to {np.abs(actions).max():.3g}{why}",
        "action",
        {"outside_frac": share, "answers": len(actions), "largest": float(np.abs(actions).max())},
        severity=severity,
    )
