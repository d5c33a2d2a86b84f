"""The check `observation-dimension-dead`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import Columns, columns_of, columns_text, finite_rows, is_image, name_of
from ..recorded import NOTHING
from ..world import World

LEAST_ROWS = 100
"""Fewer rows are too few to call a dimension dead."""
SPARSE_FRAC = 0.5
"""A dimension that is exactly 0 in half of the rows, but not in all, is a sparse sensor."""


@check(
    "PEN044",
    "observation-dimension-dead",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Fill the dimension or remove it; check the indices with which the observation is put together.",
    explained_by=("observation-constant", "observation-not-finite"),
)
def look(world: World) -> Answer:
    """Some observation dimensions never change.

    What is measured:
        The range of each dimension over all steps of all episodes. Flags, one-hot entries and declared constants count
        as notes only: random play may never set them.

    Why it hurts:
        A dead dimension is information the policy was meant to have and has not, and an input that a normaliser divides
        by 0.

    Usual causes:
        A sensor list that is never filled; a velocity that is not copied; an index that is off by one.

    What to try:
        Print the inner state beside the dimension; if it is not needed, remove it.

    When it is harmless:
        A parameter that is constant by design, a sensor that random play never triggers. If the dimension is filled
        later in training it is alive.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990, section 3.3 (observations and their normalisation).
    """
    if not world.episodes:
        return NOTHING
    columns = columns_of(world)
    if is_image(world) or hasattr(world.observation_space, "n"):
        return Skip("single entries of an image or a discrete observation say little")
    if columns.rows < LEAST_ROWS:
        return Skip(f"only {columns.rows} observations were recorded", ("longer recording",))
    if columns.constant.all():
        return None
    dead = np.flatnonzero(columns.constant & (columns.low != columns.high))
    if not len(dead):
        return None
    first = int(dead[0])
    values = world.episodes[0].observations[0]
    suspect = [int(d) for d in dead if values[d] == 0 and not _flag(columns, int(d))]
    sensors = _has_sparse_columns(world)
    return Symptom(
        f"{len(dead)} of {columns.count} observation dimensions never change: {columns_text(dead)} (value "
        f"{values[first]:g})",
        name_of(world, first) if len(dead) == 1 else "observation",
        {"dead": len(dead), "columns": columns_text(dead), "rows": columns.rows, "value": float(values[first])},
        severity=None if suspect and not sensors else Severity.INFO,
    )


def _flag(columns: Columns, column: int) -> bool:
    """Whether a dimension is declared as 0 to 1 or narrower: a flag, a one-hot entry, a normalised sensor."""
    return bool(columns.low[column] >= 0 and columns.high[column] <= 1)


def _has_sparse_columns(world: World) -> bool:
    """Whether other dimensions are exactly 0 most of the time: contact sensors and the like, silent until touched."""
    rows = finite_rows(world)
    zero = (rows == 0).mean(axis=0)
    return bool(((zero >= SPARSE_FRAC) & (zero < 1)).any())
