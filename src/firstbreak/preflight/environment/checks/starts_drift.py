"""The check `starts-drift`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..starts import differ, starts_of
from ..trying import tried
from ..world import World


@check(
    "PEN020",
    "starts-drift",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Make reset independent of how often it was called.",
    explained_by=("reset-not-reproducible",),
)
def look(world: World) -> Answer:
    """The start with one and the same seed changes with the number of resets before it.

    What is measured:
        The first observation with one seed, fresh and after up to 60 further resets with other seeds.

    Why it hurts:
        The task changes while it is learned: what looks like progress or decay is the starts.

    Usual causes:
        A curriculum inside reset; a width or a table that is changed in place at each reset.

    What to try:
        Make reset compute everything from constants and the seed.

    When it is harmless:
        A declared curriculum, if its state is logged.

    References:
        Failure modes R26.
    """
    if not world.episodes:
        return NOTHING
    starts = tried(lambda: starts_of(world))
    if isinstance(starts, Skip):
        return starts
    if differ(starts.fresh, starts.fresh_again):
        return Skip("resets cannot be repeated", ("a reproducible reset",))
    if differ(starts.fresh, starts.again) and not starts.drifts:
        return None  # it jumps at once instead of moving slowly: other checks tell why
    if not len(starts.drift):
        return Skip("resets are too slow to make many", ("a larger --budget",))
    if not differ(starts.fresh, starts.drift[-1]):
        return None
    worst = int(np.argmax(np.abs(starts.fresh - starts.drift[-1])))
    one, other = float(starts.fresh[worst]), float(starts.drift[-1][worst])
    name = world.dimensions[worst]
    return Symptom(
        f"after {starts.resets} resets the same seed starts at {name} = {other:.4g} instead of {one:.4g}",
        "reset",
        {"resets": starts.resets, "fresh": one, "later": other},
    )
