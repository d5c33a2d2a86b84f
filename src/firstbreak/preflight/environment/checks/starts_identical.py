"""The check `starts-identical`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..filling import late_starts_differ
from ..promises import promise_of
from ..recorded import NOTHING
from ..starts import differ, starts_of
from ..trying import tried
from ..world import World


@check(
    "PEN019",
    "starts-identical",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Draw the start from self.np_random in reset.",
    explained_by=("observation-constant",),
)
def look(world: World) -> Answer:
    """Every episode starts from the same state, whatever the seed.

    What is measured:
        First observations under a dozen seeds in one environment. A warning when the environment promises random
        starts (an argument or its documentation); a note otherwise. Where observations come late (DelayObservation)
        the first frames are filling, and the first one after them is compared.

    Why it hurts:
        The agent learns one trajectory by heart and is lost beside it; evaluation over episodes measures nothing.

    Usual causes:
        A generator seeded in reset with a constant; a flag that is read and not used.

    What to try:
        Draw the start from self.np_random.

    When it is harmless:
        Tasks with a declared fixed start, above all with random transitions.

    References:
        Failure modes R25; fault list E08.
    """
    if not world.episodes:
        return NOTHING
    starts = tried(lambda: starts_of(world))
    if isinstance(starts, Skip):
        return starts
    if any(differ(starts.fresh, row) for row in starts.seeds) or tried(lambda: late_starts_differ(world)) is True:
        return None
    promise = promise_of(world)
    words = f"; {promise} promises random ones" if promise else ""
    return Symptom(
        f"{len(starts.seeds) + 1} seeds give one and the same start{words}",
        "reset",
        {"seeds": len(starts.seeds) + 1, "promise": promise},
        severity=Severity.WARNING if promise else Severity.INFO,
    )
