"""The check `state-grows-without-bound`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image, name_of
from ..recorded import NOTHING
from ..world import Array, World

LEAST_STEPS = 200
EACH = 3.0
"""Factor from each quarter to the next. A constant force gives 4, 2.25 and 1.8, diffusion 1.4; only powers go on."""
SHARE = 0.8
"""Share of the long episodes that must show it."""


@check(
    "PEN062",
    "state-grows-without-bound",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Check the sign of the damping and the time step of the integrator.",
)
def look(world: World) -> Answer:
    """The state grows exponentially over the episode.

    What is measured:
        The farthest distance from the start in each quarter of long episodes, for each observation entry.

    Why it hurts:
        Late steps have values no network has seen, and dominate every loss and every normaliser.

    Usual causes:
        A damping with the wrong sign; a time step that is too long for an explicit integrator; an error that is
        integrated.

    What to try:
        Plot the entry over one episode on a logarithmic axis; halve the time step and look again.

    When it is harmless:
        A population or a price that grows by design; then observe its logarithm.

    References:
        Hairer, Norsett & Wanner 1993 (stability of explicit integrators).
    """
    if not world.episodes:
        return NOTHING
    columns = columns_of(world)
    long = [e for e in world.all_episodes if e.length >= LEAST_STEPS and np.isfinite(e.observations).all()]
    if is_image(world) or not long:
        return Skip("no episode is long enough to grow in")
    growths = np.array([_growth(e.observations) for e in long])
    growing = (growths > 0).mean(axis=0) >= SHARE
    growing &= columns.continuous
    if not growing.any():
        return None
    column = int(np.argmax(np.where(growing, growths.max(axis=0), 0)))
    ratio = float(np.median(growths[:, column]))
    return Symptom(
        f"{name_of(world, column)} grows exponentially: {ratio:.1e} times farther out in the last quarter "
        "than in the first",
        name_of(world, column),
        {"ratio": ratio, "episodes": len(long), "columns": int(growing.sum())},
    )


def _growth(rows: Array) -> Array:
    """Last quarter over first quarter of the distance from the start, [D]; 0 where a quarter grows less than `EACH`."""
    away = np.abs(rows - rows[0])
    quarters = np.array([part.max(axis=0) for part in np.array_split(away[1:], 4)])
    safe = np.maximum(quarters, 1e-12)
    steady = (safe[1:] / safe[:-1] >= EACH).all(axis=0)
    return np.where(steady, safe[-1] / safe[0], 0.0)
