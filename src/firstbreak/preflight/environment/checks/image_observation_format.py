"""The check `image-observation-format`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..world import World


@check(
    "PEN077",
    "image-observation-format",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    fix="Return uint8 images from 0 to 255.",
)
def look(world: World) -> Answer:
    """The image observation is not in the format that image networks expect.

    What is measured:
        Type, bounds and values of observation spaces of rank 3.

    Why it hurts:
        Common trainers divide uint8 images by 255 and feed everything else as it is; float images from 0 to 255
        saturate the network, and images divided twice are black.

    Usual causes:
        A conversion to float without scaling; scaling in the environment and in the network.

    What to try:
        Return uint8 from 0 to 255, or floats from 0 to 1 and switch off the scaling of the trainer.

    When it is harmless:
        A custom network that does its own scaling.

    References:
        SB3 documentation, custom environments: image observations.
    """
    if not world.episodes:
        return NOTHING
    space = world.observation_space
    shape = getattr(space, "shape", None) or ()
    if len(shape) != 3:
        return Skip("the observation is not an image")
    rows = world.observations[:50]
    largest, least = float(np.nanmax(rows)), float(np.nanmin(rows))
    kind = str(getattr(space, "dtype", ""))
    whole = kind == "uint8"
    if (whole and largest > 1) or (not whole and largest <= 1 and least >= -1):
        return None
    what = "black or already divided by 255" if whole else "floats beyond [-1, 1]"
    return Symptom(
        f"the image holds {what}: type {kind}, values from {least:g} to {largest:g}",
        "observation",
        {"least": least, "largest": largest, "type": kind},
    )
