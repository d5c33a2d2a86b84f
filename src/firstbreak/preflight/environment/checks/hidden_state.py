"""The check `hidden-state`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image, name_of
from ..episode_modes import mode_of
from ..recorded import NOTHING
from ..transitions import forecast_of, transitions_of
from ..world import World

LEAST_GAIN = 0.3
"""R² that history must add. On fully observed standard environments contacts make it add up to 0.28 (Hopper)."""
LEAST_R2 = 0.7
"""... and reach: history must nearly settle it, otherwise it is only another noisy input."""

MOST_LEFT = 0.25
"""Of what is unexplained, when it is known what actions do in the episode. On fully observed standard environments 0.68
and more is left (BipedalWalker, Hopper), of a sign that flips 0.1 and less."""
LEAST_MODE_GAIN = 0.05
"""R² that it must add, so that no rounding is taken for a mode. Engineering default."""


@check(
    "PEN060",
    "hidden-state",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Observe velocities and modes, or stack frames.",
    explained_by=("observation-late", "observation-repeats", "action-without-effect"),
)
def look(world: World) -> Answer:
    """The next observation cannot be told from observation and action, but from what came before it.

    What is measured:
        Held-out R² of the change of each observation entry from observation and action, and with the observation and
        action one step earlier added; or, in second halves of episodes, with what each action did in the first half: a
        sign or a strength that is drawn at reset.

    Why it hurts:
        A policy without memory cannot tell states apart that need different actions; values have a floor of error.

    Usual causes:
        Velocities left out; a mode, a target or a delay that is not observed; one frame of a moving picture.

    What to try:
        Add what is missing, or stack the last frames, or use a recurrent policy.

    When it is harmless:
        A task that is partially observed on purpose.

    References:
        Kaelbling, Littman & Cassandra 1998 (partial observability).
    """
    if not world.episodes:
        return NOTHING
    forecast = forecast_of(world)
    if forecast is None or is_image(world) or hasattr(world.observation_space, "n"):
        return Skip("too few transitions, or observations that a small regressor cannot forecast")
    transitions = transitions_of(world)
    kept = columns_of(world).continuous[transitions.columns]
    gain = np.where(kept, forecast.change_history - forecast.change, np.nan)
    strong = kept & (gain >= LEAST_GAIN) & (forecast.change_history >= LEAST_R2)
    if not strong.any():
        return _of_the_episode(world)
    worst = int(np.nanargmax(np.where(strong, gain, np.nan)))
    column = int(transitions.columns[worst])
    return Symptom(
        f"hidden state: history lifts the held-out R2 of {name_of(world, column)} from {forecast.change[worst]:.2f} to "
        f"{forecast.change_history[worst]:.2f}",
        name_of(world, column),
        {
            "r2_markov": float(forecast.change[worst]),
            "r2_history": float(forecast.change_history[worst]),
            "columns": int(strong.sum()),
        },
    )


def _of_the_episode(world: World) -> Symptom | None:
    """Something that stays the same throughout an episode, and is told by what actions do."""
    found = mode_of(world, 1.0 - LEAST_MODE_GAIN)
    if found is None or found.r2_mode < LEAST_R2:
        return None
    if found.left_frac > MOST_LEFT or found.r2_mode - found.r2_markov < LEAST_MODE_GAIN:
        return None
    name = name_of(world, int(transitions_of(world).columns[found.place]))
    return Symptom(
        f"hidden state: actions act otherwise in other episodes: R2 of {name} from {found.r2_markov:.2f} to "
        f"{found.r2_mode:.2f} when that is known",
        name,
        {"r2_markov": found.r2_markov, "r2_mode": found.r2_mode, "episodes": found.episodes},
    )
