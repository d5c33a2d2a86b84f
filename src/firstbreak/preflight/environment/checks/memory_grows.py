"""The check `memory-grows`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..habits import growth_of
from ..recorded import NOTHING
from ..trying import tried
from ..world import World

LEAST_BYTES = 500_000
"""Per reset: ten thousand episodes would take 5 GB. The allocator itself moves by less."""
STEADY_FRAC = 0.8


@check(
    "PEN035",
    "memory-grows",
    link=Link.ENVIRONMENT_DATA,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    fix="Free at reset what the last episode allocated.",
)
def look(world: World) -> Answer:
    """Memory grows with every reset or step.

    What is measured:
        Private memory over eight stretches of at least three resets and some hundred steps each; the median, so that
        a cache filled once does not count.

    Why it hurts:
        A run of a million episodes needs a terabyte, and is killed overnight.

    Usual causes:
        A list that is never cleared; a renderer or physics model made again at each reset and not freed.

    What to try:
        Compare tracemalloc snapshots of two resets.

    When it is harmless:
        A replay inside the environment with a bound.

    References:
        gym issue 980.
    """
    if not world.episodes:
        return NOTHING
    growth = tried(lambda: growth_of(world))
    if isinstance(growth, Skip):
        return growth
    if growth is None:
        return Skip("the memory of this process cannot be read")
    if growth.median_bytes < LEAST_BYTES * growth.resets or growth.grown_frac < STEADY_FRAC:
        return None
    each = growth.median_bytes / growth.resets / 1e6
    return Symptom(
        f"memory grows by {each:.3g} MB per reset ({growth.steps / growth.resets:.0f} steps each)",
        "reset",
        {"grown_bytes": growth.median_bytes, "resets": growth.resets, "steps": growth.steps},
    )
