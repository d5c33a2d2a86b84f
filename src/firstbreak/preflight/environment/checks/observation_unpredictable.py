"""The check `observation-unpredictable`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image
from ..recorded import NOTHING
from ..transitions import forecast_of, transitions_of
from ..world import World

MOST_R2 = 0.1
"""Held-out R² of pure noise is below 0.03 at the least number of rows; real dynamics reach 0.9 in some entry."""


@check(
    "PEN056",
    "observation-unpredictable",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Check that step returns the observation of this environment, of this step.",
)
def look(world: World) -> Answer:
    """No part of the next observation can be told from observation and action.

    What is measured:
        Held-out R² of every continuous dimension of the next observation, from the observation and the action, by ridge
        regression and nearest neighbours.

    Why it hurts:
        Without a link between steps there is nothing to plan for: values cannot be learned and credit cannot be
        assigned.

    Usual causes:
        The next observation taken from another transition, another environment or a shuffled buffer; an observation
        that is fresh noise.

    What to try:
        Print observation, action and next observation of ten steps beside the inner state.

    When it is harmless:
        A contextual bandit that goes on: the next context is independent by design.

    References:
        Sutton & Barto 2018, section 3.1 (the Markov property).
    """
    if not world.episodes:
        return NOTHING
    forecast = forecast_of(world)
    if forecast is None or is_image(world) or hasattr(world.observation_space, "n"):
        return Skip("too few transitions, or observations that a small regressor cannot forecast")
    kept = columns_of(world).continuous[transitions_of(world).columns]
    if not kept.any():
        return Skip("no continuous observation")
    best = float(np.nanmax(forecast.next_value[kept]))
    if best > MOST_R2:
        return None
    return Symptom(
        f"the next observation does not follow from observation and action: best held-out R2 {best:.2f} of "
        f"{kept.sum()} entries",
        "observation",
        {"best_r2": best, "columns": int(kept.sum()), "rows": len(transitions_of(world).now)},
    )
