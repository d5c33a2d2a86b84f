"""Whether returned observations change afterwards: the arrays themselves are kept, next to a copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .recorder import copy_of
from .recording import close_quietly
from .shapes import is_array, is_tuple
from .spaces import leaves_of, parts_of
from .world import World

STEPS = 60
KEPT_STEPS = 4


@dataclass(frozen=True)
class Alias:
    """A part of an observation that changed after it had been returned."""

    where: str
    returned_at: int
    """Step at which it was returned; 0 for reset."""
    changed_at: int
    by: str
    """`step` or `reset`."""
    others: tuple[str, ...]
    """Parts that did not change."""


def first_alias(world: World) -> Alias | None:
    """Return the first observation that changed after it had been returned, None when none does."""
    episode = max(world.episodes, key=lambda e: e.length)
    env = world.make()
    try:
        kept = [_keep(world, 0, _first(env.reset(seed=episode.seed)))]
        for t, action in enumerate(episode.actions[:STEPS], start=1):
            told = env.step(copy_of(action))
            found = _changed(world, kept, t, "step")
            if found is not None:
                return found
            kept = [*kept, _keep(world, t, told[0])][-KEPT_STEPS:]
            if told[2] or told[3]:
                break
        env.reset(seed=episode.seed)
        return _changed(world, kept, len(episode.actions), "reset")
    finally:
        close_quietly(env)


@dataclass(frozen=True)
class _Kept:
    step: int
    arrays: tuple[tuple[str, Any, Any], ...]
    """(name, the array itself, a copy)"""


def _keep(world: World, step: int, seen: Any) -> _Kept:
    return _Kept(step, tuple((n, a, a.copy()) for n, a in _arrays(world.observation_space, seen)))


def _arrays(space: Any, seen: Any) -> Iterator[tuple[str, Any]]:
    for (name, _), leaf in zip(parts_of(space, "observation"), leaves_of(space, seen), strict=True):
        if is_array(leaf):
            yield name, leaf


def _changed(world: World, kept: list[_Kept], step: int, by: str) -> Alias | None:
    del world
    for one in kept:
        moved = [n for n, a, c in one.arrays if not np.array_equal(a, c, equal_nan=a.dtype.kind == "f")]
        if moved:
            others = tuple(n for n, _, _ in one.arrays if n not in moved)
            return Alias(", ".join(moved), one.step, step, by, others)
    return None


def _first(told: Any) -> Any:
    return told[0] if is_tuple(told) else told
