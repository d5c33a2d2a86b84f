"""The check `autoreset-missing`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..copies import copies_of, seen_mode
from ..trying import tried
from ..world import World


@check(
    "PEN029",
    "autoreset-missing",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Reset finished copies, or declare AutoresetMode.DISABLED.",
)
def look(world: World) -> Answer:
    """Finished copies of a vector environment stay finished.

    What is measured:
        How often an end is followed by another end of the same copy in the next step, and whether the observation is
        back among the starts.

    Why it hurts:
        After the first episodes nearly every row is a dead one: done is True, the reward is 0, and nothing is
        learned.

    Usual causes:
        A loop written for an environment that resets itself; a wrapper that forgets to.

    What to try:
        Reset finished copies, or declare AutoresetMode.DISABLED and reset them in the loop.

    When it is harmless:
        The mode is declared as disabled.

    References:
        Failure modes R16; fault list E07.
    """
    if world.kind != "vector":
        return Skip("not a vector environment")

    copies = tried(lambda: copies_of(world))
    if isinstance(copies, Skip):
        return copies
    if copies.mode == "disabled":
        return None
    if seen_mode(world, copies) != "never":
        return None
    share = float(copies.ended.mean())
    return Symptom(
        f"{100 * share:.0f} % of all rows are ends: finished copies stay finished",
        "terminated",
        {"ended_frac": share, "copies": len(copies.starts)},
    )
