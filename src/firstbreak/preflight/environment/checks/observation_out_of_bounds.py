"""The check `observation-out-of-bounds`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import told
from ..world import World

SMALL_FRAC = 0.1
"""Passing a bound by a tenth of its range changes what the bounds are used for by a tenth: worth a note only."""


@check(
    "PEN007",
    "observation-out-of-bounds",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Declare the bounds that hold, or clip the observation.",
)
def look(world: World) -> Answer:
    """An observation leaves the bounds that its space declares.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible. Values that pass a bound by rounding only, and NaN, do not count.

    Why it hurts:
        Normalisation by the bounds, one-hot encoding and image networks take them at their word; inputs beyond 1
        saturate or wrap.

    Usual causes:
        Bounds that were guessed; another unit in one branch; a state that is clipped after it has been observed.

    What to try:
        Widen the bounds to what can happen, or clip the observation.

    When it is harmless:
        Nothing in the trainer reads the bounds.

    References:
        ray issue 12681.
    """
    outside = [t for t in world.troubles if t.kind == "observation-bounds"]
    if not outside:
        return None
    trouble = max(outside, key=lambda t: t.worst)
    by_chance = [t.worst for t in world.facts.get("random_troubles", outside) if t.kind == "observation-bounds"]
    small = max(by_chance, default=0.0) <= SMALL_FRAC  # where only a searched policy gets to is a note as well
    severity = Severity.INFO if small else Severity.WARNING
    message = f"{trouble.where} = {trouble.message}, from {trouble.call}"
    return told(world, "observation-out-of-bounds", trouble, message, "observation", severity)
