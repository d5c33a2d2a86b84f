"""The check `exceptions-swallowed`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..swallowed import swallowed_of
from ..trying import tried
from ..world import World

LEAST = 2
"""Steps without any change that make it more than an accident."""


@check(
    "PEN023",
    "exceptions-swallowed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Remove the try/except around the dynamics.",
)
def look(world: World) -> Answer:
    """step catches exceptions of its own and goes on as if nothing had happened.

    What is measured:
        Exceptions raised and caught in the environment's own files over some hundred steps, and whether the
        observation stood still or became all zeros in those steps.

    Why it hurts:
        The transition is made up: the old observation with reward 0 teaches that the action does nothing.

    Usual causes:
        except Exception: pass around the dynamics, left over from debugging.

    What to try:
        Let it raise, or return truncated=True and count it in info.

    When it is harmless:
        Exceptions used for control flow; those that leave the transition right.

    References:
        Failure modes R110.
    """
    if not world.episodes:
        return NOTHING
    found = tried(lambda: swallowed_of(world))
    if isinstance(found, Skip):
        return found
    if not found.steps_with:
        return None
    frozen = found.frozen_steps
    certain = frozen >= LEAST and frozen >= 0.5 * found.steps_with
    words = f"in {frozen} of them nothing changes or all is 0" if frozen else "the observation goes on changing"
    return Symptom(
        f"{found.what} caught inside step in {found.steps_with} of {found.steps} steps; {words}"[:120],
        "step",
        {"steps_with": found.steps_with, "steps": found.steps, "unchanged_steps": frozen, "exception": found.what},
        severity=Severity.WARNING if certain else Severity.INFO,
    )
