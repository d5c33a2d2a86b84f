"""The check `end-without-time-limit-flag`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..world import World

LEAST_TIES = 3
LEAST_STEPS = 10
"""Several episodes that end at exactly the same, largest step are a limit; short ones may tie by chance."""


@check(
    "PEN002",
    "end-without-time-limit-flag",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Return terminated and truncated apart.",
)
def look(world: World) -> Answer:
    """An old environment says done, and nothing says whether it was a time limit.

    What is measured:
        Whether any info of the recording held TimeLimit.truncated, and whether several episodes end at exactly the
        largest length.

    Why it hurts:
        Trainers bootstrap at a time limit and not at a real end; with one flag for both the value is wrong at each
        limit.

    Usual causes:
        An interface of gym before 0.26 with a counter of its own.

    What to try:
        Set info['TimeLimit.truncated'] at the limit, or move to the five values of Gymnasium.

    When it is harmless:
        All episodes end for reasons of the task.

    References:
        Gym 0.26 release notes; Pardo et al. 2018, arXiv 1712.00378.
    """
    if world.kind != "old":
        return Skip("not an environment of the old interface")
    ended = [e for e in world.all_episodes if e.ended]
    if not ended:
        return Skip("no episode ended", ("longer recording",))
    if any(e.truncated[-1] for e in ended):
        return None
    longest = max(e.length for e in ended)
    ties = sum(e.length == longest for e in ended)
    likely = ties >= LEAST_TIES and longest >= LEAST_STEPS
    end = f"{ties} of {len(ended)} end at step {longest}" if likely else f"{len(ended)} episodes ended"
    return Symptom(
        f"old 4-tuple interface: done never says whether it was a time limit; {end}",
        "done",
        {"episodes": len(ended), "at_longest": ties, "longest_steps": longest},
        severity=Severity.WARNING if likely else Severity.INFO,
    )
