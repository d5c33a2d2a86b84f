"""The check `discrete-actions-identical`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..sweep import NoSweep, Sweep, sweep_of, without_effect
from ..world import World

LEAST_STATES = 8
"""From fewer states two different actions may agree by chance."""
LEAST_MOVED = 3
"""States from which the pair, held, must move something: two no-ops move nothing from any. Not a share of the states:
where nothing leads back from a wall, random play stands at the wall, and what pushes against it seems to do nothing."""


@check(
    "PEN052",
    "discrete-actions-identical",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Give each action its own effect or remove it from the space.",
)
def look(world: World) -> Answer:
    """Two discrete actions have the same effect from every state tried.

    What is measured:
        Each action is played from up to 64 states (same seed, same prefix) and held for 8 steps; all outcomes are
        compared bit for bit. Pairs that leave the observation as it is are notes only.

    Why it hurts:
        Part of the action space is wasted, and what the missing action should do can never be done.

    Usual causes:
        A copy-and-paste error in the table of actions; a modulo that folds two actions together.

    What to try:
        Print the table of actions.

    When it is harmless:
        Declared no-ops; actions that matter only in states that random play did not reach, such as picking up an
        object.

    References:
        gym-super-mario-bros issue 50.
    """
    if not world.episodes:
        return NOTHING
    sweep = sweep_of(world)
    if isinstance(sweep, NoSweep):
        return Skip(sweep.reason, ("a seed that repeats an episode",))
    if not sweep.discrete or len(sweep.values) != 1:
        return Skip("the actions are not a single discrete choice")
    if sweep.states < LEAST_STATES or without_effect(sweep):
        return None
    values, outcomes = sweep.values[0], sweep.outcomes[:, 0]
    same = [
        (i, j)
        for i in range(len(values))
        for j in range(i + 1, len(values))
        if np.array_equal(outcomes[:, i], outcomes[:, j])
    ]
    if not same:
        return None
    moving = [pair for pair in same if _moves(sweep, pair[0])]
    i, j = (moving or same)[0]
    return Symptom(
        f"actions {values[i]:g} and {values[j]:g} do the same from all {sweep.states} states; {len(same)} such pairs",
        "action",
        {"first": int(values[i]), "second": int(values[j]), "pairs": len(same), "states": sweep.states},
        severity=None if moving else Severity.INFO,
    )


def _moves(sweep: Sweep, action: int) -> bool:
    """Whether holding this action changes the observation from enough states."""
    changed = (sweep.seen[:, 0, action] != sweep.before[:, None, :]).any(axis=(1, 2))
    return int(changed.sum()) >= LEAST_MOVED
