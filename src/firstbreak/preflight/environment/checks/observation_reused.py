"""The check `observation-reused`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..aliasing import first_alias
from ..recorded import NOTHING
from ..trying import tried
from ..world import World


@check(
    "PEN022",
    "observation-reused",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Return a copy: observation.copy().",
)
def look(world: World) -> Answer:
    """An observation changes after it has been returned.

    What is measured:
        The returned arrays themselves are kept for four steps next to a copy; each part of a nested observation on
        its own.

    Why it hurts:
        Whoever stores the observation without copying, as most replay buffers of one process do for a step, stores
        the next one: observation and next observation become equal.

    Usual causes:
        One buffer for all steps; a view of the simulator state.

    What to try:
        Return a copy.

    When it is harmless:
        The trainer copies at once and says so.

    References:
        Fault list E15; dm_control issue 34; Gymnasium 1.4 check_returned_data_not_reused.
    """
    if not world.episodes:
        return NOTHING
    if world.kind in ("vector", "torchrl"):
        return Skip("the adapter copies what it is given")
    found = tried(lambda: first_alias(world))
    if isinstance(found, Skip) or found is None:
        return found
    only = f"; {len(found.others)} other parts do not" if found.others else ""
    return Symptom(
        f"{found.where} returned at step {found.returned_at} changes at {found.by} {found.changed_at}{only}",
        found.where,
        {"returned_at_step": found.returned_at, "changed_at_step": found.changed_at, "by": found.by},
    )
