"""Starts that come late: behind a wrapper that delays observations the first frames are filling, alike for all."""

from __future__ import annotations

import numpy as np

from .layers import chain
from .recording import close_quietly
from .shapes import attributes_of
from .starts import differ
from .world import Array, World

SEEDS = 4
"""Starts compared; of a task with few starts four may be alike by chance, and then it stays as it was."""
LONGEST = 50
"""Steps of delay that are looked at. Engineering default."""
LEAST_FILLING = 2
"""Frames alike, bit for bit, that count as filling where no wrapper says so; one is every fixed start."""


def late_starts_differ(world: World) -> bool:
    """Return whether the first frame that is not filling differs between seeds.

    Raises:
        Exception: whatever the environment raised.
    """
    probe = next((e for e in world.episodes if e.length), None)
    if probe is None:
        return False
    plays = [world.play(probe.actions[:LONGEST], world.seed + i).observations for i in range(SEEDS)]
    first = declared_delay(world) or _alike(plays)
    reached = [rows[first] for rows in plays if 0 < first < len(rows)]
    return any(differ(reached[0], row) for row in reached[1:])


def declared_delay(world: World) -> int:
    """Return the frames by which a wrapper such as Gymnasium's DelayObservation says that it delays; 0 without one."""
    env = world.make()
    try:
        named = [attributes_of(one).get("delay") for one in chain(env) if "Delay" in type(one).__name__]
    finally:
        close_quietly(env)
    return sum(d for d in named if isinstance(d, int) and d > 0)


def _alike(plays: list[Array]) -> int:
    """How many first frames are one and the same in all plays and all steps; 0 when they are too few."""
    shortest = min(len(rows) for rows in plays)
    same = np.array([all(np.array_equal(rows[t], plays[0][0]) for rows in plays) for t in range(shortest)])
    count = int(np.argmin(same)) if not same.all() else 0
    return count if count >= LEAST_FILLING else 0
