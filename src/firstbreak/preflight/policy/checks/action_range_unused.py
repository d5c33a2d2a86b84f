"""The check `action-range-unused`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..trial import PolicyTrial

USED_FRAC = 0.8
"""Bounds up to a quarter wider than 1 are close enough."""
LEAST_REACH = 0.9
"""An output that never comes near 1 says nothing about where it is cut."""


@check(
    "POC007",
    "action-range-unused",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Scale the squashed output to the bounds of the space.",
    explained_by=("action-kind-mismatch", "action-type-mismatch"),
)
def look(trial: PolicyTrial) -> Answer:
    """The policy returns [-1, 1] where the bounds are others: the output is not scaled.

    What is measured:
        The reach of the answers in dimensions whose bounds are not [-1, 1], where the answers fill [-1, 1] and stop
        there.

    Why it hurts:
        Part of the actuator is out of reach; the best policy may be as well.

    Usual causes:
        A tanh output without the scale and offset of the bounds.

    What to try:
        Multiply by (high - low) / 2 and add the middle, or wrap with RescaleAction.

    When it is harmless:
        A policy that happens to need no more.

    References:
        cleanrl pull request 211.
    """
    if not trial.policy:
        return Skip("no policy was given")
    if not trial.answers:
        return Skip("the policy gave no answer", ("a policy that answers",))

    actions = trial.fitting()
    if actions is None or not trial.box:
        return Skip("the action space is not a Box")
    low, high = np.ravel(trial.action_space.low).astype(float), np.ravel(trial.action_space.high).astype(float)
    wider = np.isfinite(low) & np.isfinite(high) & ((low < -1 / USED_FRAC) | (high > 1 / USED_FRAC))
    reach = np.abs(actions).max(axis=0)
    unscaled = np.flatnonzero(wider & (reach <= 1 + 1e-6) & (reach >= LEAST_REACH))
    if not len(unscaled):
        return None
    first = int(unscaled[0])
    used = float(2 * reach[first] / (high[first] - low[first]))
    return Symptom(
        f"action dimension {first} stays in [-1, 1], {100 * used:.0f} % of its range [{low[first]:g}, "
        f"{high[first]:g}]: not scaled",
        f"action[{first}]",
        {"used_frac": used, "reach": float(reach[first]), "low": float(low[first]), "high": float(high[first])},
    )
