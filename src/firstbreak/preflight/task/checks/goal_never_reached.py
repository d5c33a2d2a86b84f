"""The check `goal-never-reached`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..sample import TaskSample

LEAST = 50


@check(
    "PTK009",
    "goal-never-reached",
    link=Link.EXPLORATION,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Add way points or shaping, then demonstrations, then an exploration bonus.",
)
def look(sample: TaskSample) -> Answer:
    """No policy ever comes into the goal region.

    What is measured:
        The number of episodes that enter the region at any step, over all policies; it fires at 0 of 50 or more, with
        the 95 % upper bound of the rate. When only random play misses it and another policy does not, it is a note.

    Why it hurts:
        What is never visited is never reinforced.

    Usual causes:
        A goal that is walled in or too far; a region that is too small; a predicate that never holds.

    What to try:
        In this order: rewards for way points or potential-based shaping, a policy cloned from demonstrations, an
        exploration bonus. First make sure by hand that the goal can be reached.

    When it is harmless:
        When the goal is a limit to strive for, not a place to be.

    References:
        Hanley & Lippman-Hand 1983 (rule of three); Bellemare et al. 2016, arXiv 1606.01868 (exploration bonus).
    """
    known = sample.goal_reached
    count = int(sum(v.size for v in known.values()))
    if not count:
        return Skip("the goal region is not known", ("goal",))
    if count < LEAST:
        return Skip(f"only {count} episodes, {LEAST} are needed", ("more episodes",))
    rates = {who: float(v.mean()) for who, v in known.items()}
    missed = [who for who, rate in rates.items() if rate == 0]
    if not missed or (len(missed) < len(rates) and "random" not in missed):
        return None
    nobody = len(missed) == len(rates)
    n = count if nobody else int(known["random"].size)
    return Symptom(
        f"the goal region is never reached by {' or '.join(missed)} in {n} episodes (rate below {300 / n:.2g} %)",
        "goal",
        {"episodes": n, "rate_below_frac": 3 / n, **{f"{w}_reached_frac": r for w, r in rates.items()}},
        severity=None if nobody else Severity.INFO,
    )
