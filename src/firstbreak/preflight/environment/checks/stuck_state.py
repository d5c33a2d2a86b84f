"""The check `stuck-state`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity
from ..columns import columns_of
from ..recorded import NOTHING
from ..repeats import standstill
from ..world import Array, World

LEAST_STEPS = 30
"""Steps without a change. Blocked moves and failed actions are common, but 30 in a row of 4 in 5 have odds of 0.1 %."""


@check(
    "PEN061",
    "stuck-state",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="End the episode in this state, or let it be left.",
    explained_by=("observation-constant", "action-without-effect"),
)
def look(world: World) -> Answer:
    """Some state is never left again, whatever the action, and the episode goes on.

    What is measured:
        Standstills at the end of episodes: the observation does not change for many steps while the actions do, and no
        episode ever leaves that observation.

    Why it hurts:
        The rest of the episode is filled with worthless transitions; returns depend on how soon it is hit.

    Usual causes:
        A missing termination; a dead body that is still simulated; a cell whose moves are all blocked.

    What to try:
        Start in the state named and try every action; end the episode there.

    When it is harmless:
        An absorbing state by design; then end the episode and bootstrap with 0.

    References:
        Sutton & Barto 2018, section 3.4 (absorbing states).
    """
    if not world.episodes:
        return NOTHING
    if columns_of(world).constant.all():
        return None
    longest = max(world.episodes, key=standstill)
    still = standstill(longest)
    state = longest.observations[-1]
    tried = longest.action_array[longest.length - still :]
    if still < LEAST_STEPS or len(np.unique(tried, axis=0)) < 2 or _left(world, state):
        return None
    caught = sum(standstill(e) >= LEAST_STEPS for e in world.episodes)
    return Symptom(
        f"stuck: the observation stays the same for the last {still} steps of an episode whatever the action",
        "observation",
        {
            "steps": still,
            "episodes": caught,
            "state": ", ".join(f"{float(v):.4g}" for v in state[:8]),
            "seed": -1 if longest.seed is None else longest.seed,
        },
        at=Onset(longest.length - still, longest.length - still, "env_steps"),
    )


def _left(world: World, state: Array) -> bool:
    """Whether any episode goes from `state` to another observation."""
    for episode in world.episodes:
        here = (episode.observations[:-1] == state).all(axis=1)
        moved = (episode.observations[1:] != episode.observations[:-1]).any(axis=1)
        if bool((here & moved).any()):
            return True
    return False
