"""The check `observation-scales-differ`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image, name_of
from ..recorded import NOTHING
from ..world import World

LEAD = 300.0
"""Largest spread over the median of the others; standard MuJoCo tasks have up to 20."""
RATIO = 100.0
"""Largest over smallest spread, worth a note: the common rule of thumb."""


@check(
    "PEN073",
    "observation-scales-differ",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Normalise the observations.",
    explained_by=(
        "observation-outliers",
        "state-grows-without-bound",
        "action-dimension-dominates",
        "action-effect-negligible",
    ),
)
def look(world: World) -> Answer:
    """Observation dimensions have very different scales.

    What is measured:
        The robust spread of each continuous dimension: the largest against the median one, and against the smallest.

    Why it hurts:
        The first layer sees mostly the large dimension; the small ones need weights that take long to grow.

    Usual causes:
        Mixed units, such as millimetres beside metres; raw sensor counts beside ratios.

    What to try:
        Normalise observations with running statistics, or divide by known ranges.

    When it is harmless:
        A trainer that normalises observations.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990, section 3.3 (observation normalisation).
    """
    if not world.episodes:
        return NOTHING
    columns = columns_of(world)
    if is_image(world):
        return Skip("the observation is an image")
    usable = np.flatnonzero(columns.continuous)
    if len(usable) < 2:
        return None
    spread = columns.spread[usable]
    largest, smallest = int(np.argmax(spread)), int(np.argmin(spread))
    others = float(np.median(np.delete(spread, largest)))
    lead, ratio = float(spread[largest] / others), float(spread[largest] / spread[smallest])
    if lead < LEAD and ratio < RATIO:
        return None
    column, least = int(usable[largest]), int(usable[smallest])
    against = "the usual one" if lead >= LEAD else name_of(world, least)
    return Symptom(
        f"{name_of(world, column)} has a spread {lead if lead >= LEAD else ratio:.0f} times that of {against}",
        name_of(world, column),
        {
            "largest_sd": float(spread[largest]),
            "median_sd": others,
            "smallest_sd": float(spread[smallest]),
            "ratio": ratio,
        },
        severity=None if lead >= LEAD else Severity.INFO,
    )
