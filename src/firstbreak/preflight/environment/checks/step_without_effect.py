"""The check `step-without-effect`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image
from ..recorded import NOTHING
from ..repeats import repeated_steps
from ..world import World

LEAST = 3
"""One or two may be chance."""


@check(
    "PEN058",
    "step-without-effect",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Let step raise instead of returning the old observation.",
    explained_by=("observation-constant",),
)
def look(world: World) -> Answer:
    """Some steps change nothing at all and pay exactly 0: a sign of failures that are swallowed.

    What is measured:
        Steps whose observation equals the one before bit for bit and whose reward is 0, in an environment whose other
        steps do neither.

    Why it hurts:
        Such transitions teach that the action did nothing. Nobody sees the error that caused them.

    Usual causes:
        A try/except around the dynamics that returns the old observation and reward 0; a skipped simulator tick.

    What to try:
        Remove the except clause, or count and log what it catches.

    When it is harmless:
        A pause that is part of the task.

    References:
        Python's own advice: errors should never pass silently (PEP 20).
    """
    if not world.episodes:
        return NOTHING
    columns = columns_of(world)
    if is_image(world) or not columns.continuous.any():
        return Skip("observations that are not continuous may well repeat")
    steps, repeats = repeated_steps(world)
    rewards = world.rewards
    idle = repeats & (rewards == 0)
    others = rewards[~repeats]
    if int(idle.sum()) < LEAST or not len(others) or float((others == 0).mean()) > 0.05:
        return None
    return Symptom(
        f"{int(idle.sum())} of {steps} steps change nothing and pay exactly 0: exceptions swallowed?",
        "step",
        {"idle_steps": int(idle.sum()), "steps": steps, "idle_frac": float(idle.sum() / steps)},
    )
