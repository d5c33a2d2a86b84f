"""The check `penalty-pays`."""

from __future__ import annotations

import re

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....stats import rank_correlation
from ..parts import added_up, usable_parts
from ..sample import RewardSample

COST = re.compile(r"penalty|penalties|cost|violation|collision|crash")
"""Names of what must not pay."""
EFFORT = re.compile(r"energy|effort|ctrl|control|torque|action|jerk|smooth")
"""Names of what costs effort; they must also rise with the size of the action to be called wrong."""
NEARLY = 0.95
"""Share of the rows with a value in which it pays."""
RISES = 0.5
"""Rank correlation with the size of the action."""


@check(
    "PRW024",
    "penalty-pays",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Turn the sign of this term: it is added where it should be subtracted.",
)
def look(sample: RewardSample) -> Answer:
    """A component named as a cost raises the reward: its sign is wrong.

    What is measured:
        What each part adds to the reward, its weight being found from the sum. A part named penalty, cost, collision
        fires when it adds in 95 % of the rows where it is not 0. One named energy, effort, control must also rise with
        the size of the action.

    Why it hurts:
        The policy seeks what it should avoid: bang-bang control, crashes.

    Usual causes:
        A cost returned as a positive number and added; a weight that is negative where the term already is.

    What to try:
        Compare the reward of a step without action and one with full action from the same state.

    When it is harmless:
        When the name means the opposite, such as the energy that a turbine yields.

    References:
        Amodei et al. 2016, arXiv 1606.06565, section 4 (wrong objective functions).
    """
    parts = usable_parts(sample)
    if isinstance(parts, Skip):
        return parts
    made = added_up(sample)
    if made is None or not made.adds_up:
        return Skip("the parts do not add up to the reward, so their signs cannot be told")
    for name, values in parts.items():
        paid = made.weights[name] * values
        moved = paid[paid != 0]
        if moved.size < 20 or (moved > 0).mean() < NEARLY:
            continue
        effort = _rises_with_effort(sample, paid)
        low = name.lower()
        if COST.search(low) or (EFFORT.search(low) and effort > RISES):
            return Symptom(
                f"component {name[:40]} pays instead of costing: it adds {float(moved.mean()):.3g} per row on average",
                f"reward.{name}",
                {"component": name, "mean_paid": float(moved.mean()), "rank_correlation_with_action": effort,
                 "weight": made.weights[name], "rows": int(moved.size)},
            )  # fmt: skip
    return None


def _rises_with_effort(sample: RewardSample, paid: np.ndarray) -> float:
    """Rank correlation of what is paid with the size of the action; 0 where actions have no size."""
    if sample.actions is None or sample.discrete_actions:
        return 0.0
    size = np.square(np.asarray(sample.actions, dtype=np.float64).reshape(paid.size, -1)).sum(axis=1)
    return rank_correlation(paid, size)
