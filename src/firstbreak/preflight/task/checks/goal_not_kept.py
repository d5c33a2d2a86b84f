"""The check `goal-not-kept`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...reward.measures import fraction_interval
from ..sample import TaskSample

LEAST = 10
HALF = 0.5


@check(
    "PTK010",
    "goal-not-kept",
    link=Link.EXPLORATION,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Make the reward at the goal stronger, or end the episode there.",
)
def look(sample: TaskSample) -> Answer:
    """The goal region is reached and then left again.

    What is measured:
        Of the episodes that entered the region, the share whose last step lies outside, with Wilson's interval; it
        fires when the lower bound for the best policy is above one half, with 10 such episodes or more. For random
        play alone it is a note: it leaves every place.

    Why it hurts:
        Being at the goal does not pay enough to stay there, or the policy cannot stop.

    Usual causes:
        A reward at the goal that is too weak against the one on the way; no end at the goal; no velocity in the
        observation.

    What to try:
        In this order: a stronger reward at the goal or an end of the episode there, pay for staying, check the
        observation.

    When it is harmless:
        When passing through is the task, as with way points.

    References:
        Engineering default of one half.
    """
    known = [w for w in sample.goal_kept if w in sample.goal_reached]
    if not known:
        return Skip("whether the goal was kept is not known", ("goal",))
    skilled = [w for w in known if w != "random"]
    who = max(skilled or known, key=lambda w: float(sample.goal_reached[w].mean()))
    entered = sample.goal_reached[who].astype(bool)
    count = int(entered.sum())
    if count < LEAST:
        return Skip(f"only {count} episodes reached the goal, {LEAST} are needed", ("more episodes",))
    left = int((sample.goal_kept[who][entered] == 0).sum())
    low, high = fraction_interval(left, count)
    if low <= HALF:
        return None
    return Symptom(
        f"the goal is reached, then left again in {100 * left / count:.0f} % of {count} episodes of the {who} policy",
        "goal",
        {"left_frac": left / count, "low_frac": low, "high_frac": high, "reached": count},
        severity=None if skilled else Severity.INFO,
    )
