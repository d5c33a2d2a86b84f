"""The check `step-not-reproducible`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..recorded import NOTHING
from ..trying import tried
from ..twins import twins_of
from ..world import World


@check(
    "PEN015",
    "step-not-reproducible",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Draw everything from self.np_random; keep the clock out of step.",
    explained_by=("reset-not-reproducible",),
)
def look(world: World) -> Answer:
    """The same seed and the same actions do not lead to the same trajectory.

    What is measured:
        Long episodes played twice in fresh environments, up to 600 steps, with the global generators in the same
        state; the first step that differs is told.

    Why it hurts:
        No failure can be replayed and no run repeated; what depends on the clock also depends on how busy the machine
        is.

    Usual causes:
        The clock; a generator that is not seeded; threads; hash order; uninitialised memory.

    What to try:
        Search step for time, random sources and sets; compare two runs at the step named.

    When it is harmless:
        Real hardware, and simulators that state that they are not deterministic.

    References:
        Gymnasium, Env.reset (seeding); failure modes R25, R26.
    """
    if not world.episodes:
        return NOTHING
    twins = tried(lambda: twins_of(world))
    if isinstance(twins, Skip):
        return twins
    steps = sum(t.steps for t in twins)
    found = min((t.again for t in twins if t.again is not None), key=lambda d: d.step, default=None)
    if found is None:
        return None if twins else NOTHING
    return Symptom(
        f"same seed and actions part at step {found.step} of the episode: {found.text}",
        found.where,
        {"step": found.step, "one": found.one, "other": found.other, "compared_steps": steps},
        at=Onset(found.step, found.step, "env_steps"),
    )
