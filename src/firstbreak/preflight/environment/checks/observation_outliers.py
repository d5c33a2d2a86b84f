"""The check `observation-outliers`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, columns_text, finite_rows, is_image, name_of
from ..recorded import NOTHING
from ..world import World

LEAST_ROWS = 100
FAR_SD = 1e4
"""Robust standard deviations. Of 10,000 draws of a Student t with 3 degrees of freedom the largest lies near 40."""
LARGE = 100.0
"""... and this many times what 99 % of the entries of any dimension reach: tiny dimensions may well jump."""


@check(
    "PEN045",
    "observation-outliers",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Find what produces the value and correct it; clip observations only as a second line.",
)
def look(world: World) -> Answer:
    """A few observations are many orders of magnitude beyond all others.

    What is measured:
        The distance of each entry from the median of its dimension, in robust standard deviations, and its size against
        all dimensions.

    Why it hurts:
        One such row dominates a batch, blows up running statistics for good, and saturates the network.

    Usual causes:
        A sensor that misses; a unit that is wrong on one branch; a division by something close to 0.

    What to try:
        Replay the step named and follow the value back; clip only after its source is understood.

    When it is harmless:
        Heavy-tailed sensors reach tens of standard deviations, not ten thousand.

    References:
        IsaacLab issue 1698 and pull request 1727.
    """
    if not world.episodes:
        return NOTHING
    columns, rows = columns_of(world), finite_rows(world)
    if is_image(world) or columns.rows < LEAST_ROWS:
        return Skip("no single dimensions to look at" if is_image(world) else "too few observations")
    usable = np.flatnonzero(columns.continuous)
    if not len(usable):
        return None
    usual = float(np.quantile(np.abs(rows[:, usable]), 0.99, axis=0).max())
    seen = rows[:, usable]
    far = np.abs(seen - np.median(seen, axis=0)) / columns.spread[usable]
    wild = (far > FAR_SD) & (np.abs(seen) > LARGE * usual)
    if not wild.any():
        return None
    counts = wild.sum(axis=0)
    worst = int(np.argmax(np.where(wild, far, 0).max(axis=0)))
    column, size = int(usable[worst]), float(np.abs(seen[:, worst]).max())
    return Symptom(
        f"{int(wild.any(axis=1).sum())} of {len(rows)} observations have outliers: {name_of(world, column)} "
        f"reaches {size:.3g}",
        name_of(world, column),
        {
            "outliers": int(counts.sum()),
            "largest": size,
            "usual_sd": float(columns.spread[column]),
            "columns": columns_text(usable[counts > 0]),
        },
    )
