"""The check `observation-repeats`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image
from ..recorded import NOTHING
from ..repeats import repeated_steps
from ..world import World

LEAST_STEPS = 100
LEAST_FRAC = 0.05
"""Share of steps; continuous dynamics that are moving never repeat all entries."""


@check(
    "PEN057",
    "observation-repeats",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Return the observation that belongs to this step.",
    explained_by=("observation-constant", "step-without-effect"),
)
def look(world: World) -> Answer:
    """Observations repeat exactly from one step to the next although the state moves on.

    What is measured:
        The share of steps whose next observation equals the one before bit for bit, among episodes with continuous
        observations; a run that never changes again does not count.

    Why it hurts:
        The agent acts on old information and learns from transitions that did not happen.

    Usual causes:
        A frame that is delivered late or twice; an observation returned from a cache; a sensor that is slower than the
        control.

    What to try:
        Log a counter of the simulator with each observation.

    When it is harmless:
        A sensor that is slower than the control by design; then stack frames or act at its rate.

    References:
        Dulac-Arnold et al. 2019, arXiv 1904.12901 (delays of sensors and actuators).
    """
    if not world.episodes:
        return NOTHING
    columns = columns_of(world)
    if is_image(world) or not columns.continuous.any():
        return Skip("observations that are not continuous may well repeat")
    steps, repeats = repeated_steps(world)
    share = float(repeats.mean()) if steps else 0.0
    if steps < LEAST_STEPS or share < LEAST_FRAC:
        return None
    return Symptom(
        f"{100 * share:.0f} % of {steps} steps return the observation of the step before, bit for bit",
        "observation",
        {"repeat_frac": share, "steps": steps},
    )
