"""The check `zero-action-drift`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image, name_of
from ..recorded import NOTHING
from ..rest import rest_of
from ..world import Array, World

FAR = 10.0
"""Times the standard deviation of the starts."""
STEADY_FRAC = 0.95
"""Share of the steps that go the same way."""


@check(
    "PEN063",
    "zero-action-drift",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Find the constant force or bias; zero action should leave a body at rest where it is.",
    explained_by=("observation-constant", "state-grows-without-bound"),
)
def look(world: World) -> Answer:
    """With zero action the state runs away in the same direction from every start.

    What is measured:
        Runs of 200 steps with action 0 from five starts: entries that move one way in nearly every step, the same way
        from every start, and farther than ten times the spread of the starts.

    Why it hurts:
        The policy must learn a constant force before it can learn anything else; exploration around 0 drifts out of the
        workspace.

    Usual causes:
        A constant added to the action; a bias of an actuator; gravity on the wrong axis; an asymmetric clip.

    What to try:
        Print force and acceleration at rest.

    When it is harmless:
        Falling, or a journey that is part of the task.

    References:
        A. Jones 2021, 'Debugging RL, without the agonizing pain'.
    """
    if not world.episodes:
        return NOTHING
    rest, columns = rest_of(world), columns_of(world)
    if rest is None:
        return Skip("there is no zero action, or episodes end soon without acting")
    if is_image(world):
        return Skip("the observation is an image")
    starts = np.array([e.observations[0] for e in world.episodes])
    scale = np.maximum(starts.std(axis=0), 1e-3 * np.maximum(columns.spread, 1e-12))
    moves = np.array([r[-1] - r[0] for r in rest.runs])
    steady = np.array([_steadiness(r) for r in rest.runs])
    away = (np.sign(moves) == np.sign(moves[0])).all(axis=0) & (np.abs(moves) >= FAR * scale).all(axis=0)
    # What random play leaves as far behind as zero action does belongs to the task, but a bias does exactly that too.
    drifting = away & (steady >= STEADY_FRAC).all(axis=0) & columns.continuous & ~_clocks(world)
    if not drifting.any():
        return None
    column = int(np.argmax(np.where(drifting, np.abs(moves).mean(axis=0) / scale, 0)))
    steps = len(rest.runs[0]) - 1
    return Symptom(
        f"with zero action {name_of(world, column)} drifts by {moves[:, column].mean():.3g} in {steps} steps "
        "from every start",
        name_of(world, column),
        {
            "drift": float(moves[:, column].mean()),
            "start_sd": float(starts[:, column].std()),
            "steps": steps,
            "starts": len(rest.runs),
        },
    )


def _clocks(world: World) -> NDArray[np.bool_]:
    """Columns [D] that go on by one and the same amount in every step of random play: a time, which nothing moves."""
    steps = np.concatenate(
        [np.diff(e.observations, axis=0) for e in world.episodes if not e.resets_by_itself]
        or [np.zeros((1, world.episodes[0].observations.shape[1]))]
    )
    return np.asarray(np.ptp(steps, axis=0) <= 1e-5 * np.abs(steps).max(axis=0), bool) & (steps != 0).all(axis=0)


def _steadiness(rows: Array) -> Array:
    """Share of the steps that move in the direction of the whole run, [D]."""
    steps = np.sign(np.diff(rows, axis=0))
    return (steps == np.sign(rows[-1] - rows[0])).mean(axis=0)
