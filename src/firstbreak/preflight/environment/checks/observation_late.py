"""The check `observation-late`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image
from ..recorded import NOTHING
from ..transitions import forecast_of, transitions_of
from ..world import World

LEAST_GAIN = 0.15
"""R² that the previous action must add; its noise between two regressors is about 0.03."""


@check(
    "PEN059",
    "observation-late",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Build the observation after the dynamics have been applied.",
)
def look(world: World) -> Answer:
    """Observations are one step behind: an action shows only one step later.

    What is measured:
        Held-out R² of the change of the observation from (a) the observation, (b) with the action, (c) with the action
        before. Late is where (c) explains what history explains and (b) nothing.

    Why it hurts:
        The pair (observation, action) no longer determines what follows; the agent is credited for the wrong action.

    Usual causes:
        The observation is built before the dynamics are applied; a buffer that is swapped once too often; latency.

    What to try:
        Print inner state and returned observation of three steps.

    When it is harmless:
        Latency of the real system, kept on purpose; then put past actions into the observation.

    References:
        gymnax pull request 36.
    """
    if not world.episodes:
        return NOTHING
    forecast = forecast_of(world)
    if forecast is None or is_image(world) or hasattr(world.observation_space, "n"):
        return Skip("too few transitions, or observations that a small regressor cannot forecast")
    kept = columns_of(world).continuous[transitions_of(world).columns]
    if not kept.any():
        return Skip("no continuous observation")
    blind, now, late, history = (
        float(np.nanmean(np.maximum(v[kept], 0)))
        for v in (forecast.change_blind, forecast.change, forecast.change_late, forecast.change_history)
    )
    gain = late - blind
    if gain < LEAST_GAIN or now - blind > 0.1 * gain or late < 0.9 * history:
        return None
    return Symptom(
        f"the action shows one step late: R2 of the change is {late:.2f} with the previous action, {now:.2f} "
        "with this one",
        "observation",
        {"r2_no_action": blind, "r2_action": now, "r2_previous_action": late, "r2_history": history},
    )
