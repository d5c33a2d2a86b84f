"""The check `always-truncated`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...reward.measures import fraction_interval
from ..sample import TaskSample

LEAST = 20
RARELY = 0.05


@check(
    "PTK007",
    "always-truncated",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Let an expert try; then raise the limit, bring starts nearer, or add intermediate goals.",
)
def look(sample: TaskSample) -> Answer:
    """Every episode of every policy is cut by the time limit.

    What is measured:
        The truncation rate, when it is 100 % for all policies over 20 episodes or more. A warning when a goal is known
        and hardly ever reached (upper bound of the rate below 5 %); otherwise a note, because a continuing task such as
        Pendulum is cut by design.

    Why it hurts:
        If there is a goal, nobody gets there in time. A learner that takes the limit for an end learns wrong values.

    Usual causes:
        A limit that is too short for the distance; a goal that cannot be reached; a termination that never triggers.

    What to try:
        An expert first. Then a longer limit, nearer starts, intermediate goals.

    When it is harmless:
        In continuing tasks, when the learner bootstraps at the limit.

    References:
        Pardo et al. 2018, arXiv 1712.00378 (time limits in reinforcement learning).
    """
    known = {who: v for who, v in sample.truncated.items() if v.size}
    count = int(sum(v.size for v in known.values()))
    if count < LEAST:
        return Skip("how the episodes ended is not known", ("truncated flags",))
    if not all(v.all() for v in known.values()):
        return None
    reached = sum(int(v.sum()) for v in sample.goal_reached.values())
    tried = sum(int(v.size) for v in sample.goal_reached.values())
    _, high = fraction_interval(reached, tried)
    lengths = [float(np.median(sample.lengths[w])) for w in known if w in sample.lengths]
    limit = f" after {lengths[0]:.0f} steps" if lengths else ""
    return Symptom(
        f"truncation rate is 100 %: all {count} episodes are cut{limit}; limit too short or goal out of reach?",
        "episode.truncated",
        {"episodes": count, "goals_reached": reached, "goal_high_frac": high},
        severity=Severity.WARNING if tried and high < RARELY else Severity.INFO,
    )
