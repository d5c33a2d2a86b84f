"""The check `global-rng-decides`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..recorded import NOTHING
from ..trying import tried
from ..twins import draws_of, twins_of
from ..world import World


@check(
    "PEN016",
    "global-rng-decides",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Draw from self.np_random instead of random or numpy.random.",
)
def look(world: World) -> Answer:
    """What happens depends on a random generator that belongs to the whole process.

    What is measured:
        Long episodes with the same seed and actions, played with the global generators (random, numpy.random, torch)
        in two different states.

    Why it hurts:
        The seed of the environment does not fix it: whatever else draws in the process, such as the agent, changes
        the world. Copies in one process are coupled; copies in forked processes are alike.

    Usual causes:
        random.random() or numpy.random.* in reset or step.

    What to try:
        Replace them by self.np_random.

    When it is harmless:
        Never for a seeded environment.

    References:
        rlcard issue 125; Gymnasium, Env.np_random.
    """
    if not world.episodes:
        return NOTHING
    twins = tried(lambda: twins_of(world))
    if isinstance(twins, Skip):
        return twins
    for twin in twins:
        moved, again = twin.disturbed, twin.again
        if moved is not None and (again is None or moved.step < again.step):
            draws = tried(lambda: draws_of(world))
            names = "" if isinstance(draws, Skip) else ", ".join(draws.touched)
            return Symptom(
                f"with the same seed, the global generator ({names or 'unknown'}) decides from step {moved.step} on",
                names or "random",
                {"step": moved.step, "generators": names, "one": moved.one, "other": moved.other},
                at=Onset(moved.step, moved.step, "env_steps"),
            )
    return None
