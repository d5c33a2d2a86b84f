"""One environment played alone, and again while a second instance is made, reset and stepped beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import global_rng
from .recorder import copy_of
from .recording import close_quietly
from .remembered import remembered
from .starts import player_of
from .twins import longest
from .world import Array, Episode, World

STEPS = 25


@dataclass(frozen=True)
class Neighbours:
    """Observations [T + 1, D] and rewards [T] of the same seed and actions."""

    alone: tuple[Array, Array]
    again: tuple[Array, Array]
    """Alone once more: what differs here has another cause."""
    beside: tuple[Array, Array]
    """With a second instance that plays other actions from another seed, in turn with the first."""

    @property
    def repeats(self) -> bool:
        """Whether the environment does the same twice when it is alone."""
        return _first(self.alone, self.again) is None

    @property
    def parted(self) -> int | None:
        """The first row that differs beside another instance; 0 is what reset returned."""
        return _first(self.alone, self.beside)


def neighbours_of(world: World) -> Neighbours | None:
    """Return the three plays of `world`, made once; None when no episode can be played again."""
    return remembered(world, "neighbours", lambda: _play_all(world))


def _play_all(world: World) -> Neighbours | None:
    episode = longest(world)
    if episode is None:
        return None
    plays: list[tuple[Array, Array]] = []
    for beside in (False, False, True):
        with global_rng.borrowed(41):
            plays.append(_play(world, episode, beside=beside))
    return Neighbours(*plays)


def _play(world: World, episode: Episode, *, beside: bool) -> tuple[Array, Array]:
    flatten = player_of(world).flatten
    first: Any = world.make()
    second: Any = None
    rows, paid = list[Array](), list[float]()
    seed = 1 + (episode.seed or 0)
    try:
        rows.append(flatten(first.reset(seed=episode.seed)[0]))
        if beside:
            second = world.make()
            second.reset(seed=seed)
        for t, action in enumerate(episode.actions[:STEPS]):
            told = first.step(copy_of(action))
            rows.append(flatten(told[0]))
            paid.append(float(told[1]))
            if told[2] or told[3]:
                break
            if second is not None:
                other = second.step(copy_of(episode.actions[-1 - t]))
                if other[2] or other[3]:
                    second.reset(seed=seed)
    finally:
        close_quietly(first)
        if second is not None:
            close_quietly(second)
    return np.array(rows), np.array(paid)


def _first(one: tuple[Array, Array], other: tuple[Array, Array]) -> int | None:
    """The first row of observations, or the row after the first reward, in which two plays differ."""
    for t in range(min(len(one[0]), len(other[0]))):
        same = np.array_equal(one[0][t], other[0][t], equal_nan=True)
        paid = t == 0 or np.array_equal(one[1][t - 1], other[1][t - 1], equal_nan=True)
        if not (same and paid):
            return t
    return None if len(one[0]) == len(other[0]) else min(len(one[0]), len(other[0]))
