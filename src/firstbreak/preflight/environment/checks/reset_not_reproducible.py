"""The check `reset-not-reproducible`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..starts import differ, double_reset_of, starts_of
from ..trying import tried
from ..world import Array, World


@check(
    "PEN014",
    "reset-not-reproducible",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Call super().reset(seed=seed) and draw the start from self.np_random.",
    explained_by=("global-rng-decides",),
)
def look(world: World) -> Answer:
    """reset with the same seed does not give the same first observation.

    What is measured:
        Two fresh environments, and two resets in a row of one environment, all with one seed and
        with the global generators in the same state.

    Why it hurts:
        No run can be repeated, and no failure replayed; differences between methods drown in differences between
        starts.

    Usual causes:
        The seed is not passed on; only the first reset seeds; the start is drawn from the clock or from a generator
        of its own.

    What to try:
        Call super().reset(seed=seed) and draw from self.np_random.

    When it is harmless:
        The real world and some servers cannot be seeded.

    References:
        Gymnasium, Env.reset (seeding); failure modes R25, R26.
    """
    if not world.episodes:
        return NOTHING
    starts = tried(lambda: starts_of(world))
    if isinstance(starts, Skip):
        return starts
    if differ(starts.fresh, starts.fresh_again):
        return _told(world, starts.fresh, starts.fresh_again, "in two fresh environments")
    if starts.drifts:
        return None  # it moves with the number of resets: starts-drift tells
    twice = tried(lambda: double_reset_of(world))
    if isinstance(twice, Skip):
        return twice
    if not differ(*twice):
        return None  # what differs after a step only is a leak between episodes
    return _told(world, *twice, "again: only its first seed counts")


def _told(world: World, one: Array, other: Array, how: str) -> Symptom:
    apart = np.abs(np.nan_to_num(one) - np.nan_to_num(other))
    worst = int(np.argmax(apart))
    name = world.dimensions[worst]
    return Symptom(
        f"{name} at reset is {one[worst]:.4g} and {other[worst]:.4g}, same seed {how}",
        "reset",
        {"one": float(one[worst]), "other": float(other[worst]), "dimensions": int((apart > 0).sum())},
    )
