"""The check `global-rng-reseeded`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..trying import tried
from ..twins import draws_of
from ..world import World


@check(
    "PEN017",
    "global-rng-reseeded",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Remove random.seed and numpy.random.seed; use self.np_random.",
)
def look(world: World) -> Answer:
    """The environment reseeds a random generator that belongs to the whole process.

    What is measured:
        The state of random, numpy.random and torch before and after make, reset and steps, from two different states:
        one and the same state afterwards means that it was seeded.

    Why it hurts:
        The agent's exploration and every shuffle repeat after each reset; runs with different seeds become alike.

    Usual causes:
        random.seed or numpy.random.seed in reset or in the constructor.

    What to try:
        Seed a generator of your own: numpy.random.default_rng(seed).

    When it is harmless:
        A script that plays one environment and nothing else.

    References:
        ai-agent-book issue 103.
    """
    if not world.episodes:
        return NOTHING
    draws = tried(lambda: draws_of(world))
    if isinstance(draws, Skip):
        return draws
    if not draws.reseeded:
        return None
    calls = [c for c, n in (("make", draws.make_draws), ("reset", draws.reset_draws), ("step", draws.step_draws)) if n]
    return Symptom(
        f"{len(draws.reseeded)} global generators reseeded by {calls[0]}: {', '.join(draws.reseeded)}",
        calls[0],
        {"generators": ", ".join(draws.reseeded), "calls": ", ".join(calls)},
    )
