"""The check `episodes-of-one-step`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..world import World

LEAST_EPISODES = 5
LEAST_MOVED = 20
CARRIED = 0.9
"""Correlation over episodes of one entry before and after the step: it moved, and it is still the same quantity.
Engineering default."""


@check(
    "PEN067",
    "episodes-of-one-step",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Check the condition that ends the episode, and what reset clears.",
)
def look(world: World) -> Answer:
    """Episodes last a single step.

    What is measured:
        The lengths of all recorded episodes against the declared time limit.

    Why it hurts:
        There is no sequence left to learn: every step is an end, and values are rewards.

    Usual causes:
        A bounds test with its sign reversed; a step counter that reset does not clear; a done flag that stays True.

    What to try:
        Print the state and the condition that ends the episode after the first step.

    When it is harmless:
        A bandit, or a declared limit of one step: a note. Without a declared limit it is a warning where the step moved
        the state a little on, as the first step of a longer episode does.

    References:
        banana-gym issue 4 (a step counter that reset does not clear).
    """
    if not world.episodes:
        return NOTHING
    lengths = np.array([e.length for e in world.episodes if e.ended])
    if len(lengths) < LEAST_EPISODES:
        return Skip(f"only {len(lengths)} episodes ended", ("longer recording",))
    ones = int((lengths == 1).sum())
    mixed = bool(lengths.max() >= 10 and ones >= 0.5 * len(lengths))
    if ones < len(lengths) and not mixed:
        return None
    meant_longer = mixed or (world.time_limit or 1) > 1
    goes_on = world.time_limit is None and not mixed and _goes_on(world)
    return Symptom(
        f"{ones} of {len(lengths)} episodes last 1 step (limit {world.time_limit or 'unknown'}, longest "
        f"{lengths.max()})",
        "terminated",
        {
            "one_step": ones,
            "episodes": len(lengths),
            "limit_steps": world.time_limit or -1,
            "longest_steps": int(lengths.max()),
        },
        severity=None if meant_longer else Severity.WARNING if goes_on else Severity.INFO,
    )


def _goes_on(world: World) -> bool:
    """Whether the step moved the state on, as dynamics do; a bandit returns the same, nothing, or another question."""
    whole = [e for e in world.episodes if e.length == 1 and e.ended and np.isfinite(e.observations).all()]
    if len(whole) < LEAST_MOVED:
        return False
    first, last = (np.array([e.observations[at] for e in whole]) for at in (0, -1))
    moved = (first != last).mean(axis=0) > 0.5
    varied = (first.std(axis=0) > 0) & (last.std(axis=0) > 0) & moved
    return any(np.corrcoef(first[:, j], last[:, j])[0, 1] > CARRIED for j in np.flatnonzero(varied))
