"""The check `integer-type-matters`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from .. import global_rng
from ..differences import first_difference
from ..recorded import NOTHING
from ..trying import tried
from ..twins import longest, twins_of
from ..world import Episode, World

STEPS = 200
ROUNDING = 1e-5
"""Share of the largest size seen below which a first difference is rounding: numpy promotes float32 arrays and Python
integers to float32, float32 arrays and numpy.int64 to float64. A hundred times the precision of float32."""


@check(
    "PEN013",
    "integer-type-matters",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Write action = int(action) at the top of step.",
)
def look(world: World) -> Answer:
    """The same discrete action means something else as a numpy integer than as a Python int.

    What is measured:
        One list of actions played twice from one seed, once as numpy.int64 and once as int.

    Why it hurts:
        action_space.sample and most trainers give numpy integers: the environment then plays other actions than the
        agent chose.

    Usual causes:
        isinstance(action, int), a dictionary lookup with a default, match statements.

    What to try:
        Write action = int(action) at the top of step.

    When it is harmless:
        A first difference in the last digits only is rounding, and passes.

    References:
        ViZDoom issue 574.
    """
    space = world.action_space
    if not hasattr(space, "n") or getattr(space, "shape", ()):
        return Skip("actions are not a single choice")
    episode = longest(world)
    if episode is None:
        return NOTHING
    twin = next(iter(twins_of(world)), None)
    if twin is None or twin.again is not None:
        return Skip("plays cannot be repeated", ("a reproducible environment",))
    actions = [int(a) for a in episode.actions[:STEPS]]
    pair = tried(lambda: [_play(world, kind, actions, episode.seed) for kind in (np.int64, int)])
    if isinstance(pair, Skip):
        return pair
    found = first_difference(pair[0], pair[1], world.dimensions)
    if found is None or _is_rounding(pair[0], pair[1], found.step):
        return None
    return Symptom(
        f"numpy and Python integers act differently from step {found.step} on: {found.text}",
        "action",
        {"step": found.step},
        at=Onset(found.step, found.step, "env_steps"),
    )


def _play(world: World, kind: Any, actions: Sequence[int], seed: int | None) -> Episode:
    with global_rng.borrowed(61):
        return world.play([kind(a) for a in actions], seed)


def _is_rounding(one: Episode, other: Episode, step: int) -> bool:
    """Whether two plays that first differ at `step` differ there by rounding only; ends must agree."""
    if step > min(one.length, other.length) or step < 1:
        return False
    ends = [(bool(e.terminated[step - 1]), bool(e.truncated[step - 1])) for e in (one, other)]
    rows = [np.append(e.observations[step], e.rewards[step - 1]) for e in (one, other)]
    sizes = np.append(np.abs(one.observations).max(axis=0), np.abs(one.rewards).max())
    return ends[0] == ends[1] and bool((np.abs(rows[0] - rows[1]) <= ROUNDING * sizes).all())
