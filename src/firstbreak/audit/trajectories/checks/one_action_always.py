"""The check `one-action-always`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Number
from ..gate import percent, too_few
from ..record import Record

NEARLY_ALL, FEWEST_STEPS = 0.99, 100
"""Share of the steps, and of how many. Engineering default: epsilon-greedy evaluation leaves more than 1 %."""
MOST_LONG, FEWEST_LONG, LONG_STEPS = 0.9, 10, 10
"""Share of the episodes of so many steps, and of how many. Engineering default."""


@check(
    "TRJ003",
    "one-action-always",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    fix="Print the action beside the observation for some steps, and look where the action is decided.",
)
def look(record: Record) -> Answer:
    """The action does not depend on what is seen: it is one and the same.

    What is measured:
        The share of the most common action among all steps: at least 99 % of 100 or more; or the episodes of ten
        steps or more in which the action never changes: at least 90 % of ten or more.

    Why it hurts:
        Nothing can be learnt about any other action, and a return says nothing of the policy.

    Usual causes:
        A collapsed policy; a policy that is asked once an episode; an argmax over the wrong axis; a stale action in
        the buffer.

    What to try:
        Feed the policy two very unlike observations, and print both outputs.

    When it is harmless:
        A baseline that is meant to do one thing; a bandit with a best arm.
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    flat = [np.asarray(one.actions, np.float64).reshape(len(one.actions), -1) for one in record.drawn]
    flat = [part for part in flat if part.shape[1] == flat[0].shape[1]]
    steps = np.concatenate(flat)
    _, counts = np.unique(steps, axis=0, return_counts=True)
    share = float(counts.max() / len(steps)) if len(steps) else 0.0
    long = [bool((part == part[0]).all()) for part in flat if len(part) >= LONG_STEPS]
    kept = sum(long)
    evidence: dict[str, Number] = {"top_action_frac": share, "steps": len(steps), "one_action": kept, "long": len(long)}
    if len(steps) >= FEWEST_STEPS and share >= NEARLY_ALL:
        return Symptom(f"one action is taken in {percent(share)} of {len(steps):,} steps", "action", evidence)
    if len(long) >= FEWEST_LONG and kept >= MOST_LONG * len(long):
        return Symptom(f"the action never changes within {kept:,} of {len(long):,} episodes", "action", evidence)
    return None
