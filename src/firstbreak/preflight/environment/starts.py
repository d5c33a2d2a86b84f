"""What `reset` returns: again with the same seed, with other seeds, without one, and after different histories."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import global_rng
from .differences import SAME
from .recorder import Player, copy_of
from .recording import close_quietly
from .remembered import remembered
from .shapes import is_tuple
from .world import Array, Episode, World

LEAST_CHANCE = 0.01
"""A coincidence rarer than this is none. Engineering default."""
RESETS = 60
"""Resets in a row that make a slow drift of the start visible: 2 % each is a factor of 3 after 60."""
BUDGET_S = 1.5
PARTS = 4
SEEDS = 12
FEW_SEEDS = 2
LEAST_UNSEEDED, MOST_UNSEEDED = 4, 8
"""Fresh environments without a seed: of a task with few starts two may begin alike by chance, eight do not."""


@dataclass(frozen=True)
class Starts:
    """First observations [D] of environments reset with `seed` unless said otherwise; a step lies between resets."""

    seed: int
    fresh: Array
    fresh_again: Array
    """In another fresh environment, under the same global generators."""
    again: Array
    """On the same environment, after one step."""
    seeds: Array
    """[S, D]: one for each of S other seeds, all in one environment."""
    unseeded: Array
    """[U, D]: fresh environments, each reset without a seed, until one differs from the first."""
    drift: Array
    """[K, D]: with `seed` again, after a first, second ... part of the further resets; empty when resets are slow."""
    resets: int
    """Further resets, with other seeds."""

    @property
    def unseeded_alike(self) -> bool:
        """Whether all fresh environments without a seed began alike, which chance would do in fewer than 1 in 100.

        The chance of one repeat is that of two of the seeded starts, one more counted so that it is never 0.
        """
        rows = [self.fresh, *self.seeds]
        pairs = [not differ(one, other) for i, one in enumerate(rows) for other in rows[:i]]
        chance = (sum(pairs) + 1) / (len(pairs) + 2)
        repeats = len(self.unseeded) - 1
        alike = all(not differ(self.unseeded[0], row) for row in self.unseeded[1:])
        return alike and chance**repeats < LEAST_CHANCE

    @property
    def drifts(self) -> bool:
        """Whether the start with one seed moves further away with each part of the resets, little at first."""
        if len(self.drift) < PARTS:
            return False
        away = np.abs(np.vstack([self.again[None], self.drift]) - self.fresh).max(axis=1)
        return bool((np.diff(away) > 0).all() and away[0] < 0.5 * away[-1])


@dataclass(frozen=True)
class Histories:
    """The same seed and actions, in a fresh environment and in one that has played an episode before."""

    fresh: Episode
    after: Episode
    before_steps: int
    """Steps of the episode played before."""


def starts_of(world: World) -> Starts:
    """Return the starts of `world`, tried once.

    Raises:
        Exception: whatever `reset` raised.
    """
    return remembered(world, "starts", lambda: _starts(world))


def histories_of(world: World) -> tuple[Histories, ...]:
    """Return episodes with and without a history, played once."""
    return remembered(world, "histories", lambda: _histories(world))


def differ(one: Array, other: Array) -> bool:
    """Whether two observations differ by more than rounding; NaN equals NaN."""
    with np.errstate(invalid="ignore"):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        same |= np.abs(one - other) <= SAME * np.maximum(np.abs(one), np.abs(other))
    return not bool(same.all())


def player_of(world: World) -> Player:
    """Return a player for the environments of `world`."""
    return Player(world.observation_space, world.action_space)


def double_reset_of(world: World) -> tuple[Array, Array]:
    """Return the starts of two resets in a row with one seed, without a step in between."""
    flatten = player_of(world).flatten
    env = world.make()
    with global_rng.borrowed(31):
        rows = [flatten(_seen(env.reset(seed=world.seed))) for _ in range(2)]
    close_quietly(env)
    return rows[0], rows[1]


def _starts(world: World) -> Starts:
    seed = world.seed
    begin = time.perf_counter()
    first = _Starter(world)
    with global_rng.borrowed(31):
        env = world.make()
        fresh, again = first(env, seed), first(env, seed)
    other = world.make()
    with global_rng.borrowed(31):
        fresh_again = first(other, seed)
    cost = (time.perf_counter() - begin) / 3
    count = int(np.clip(BUDGET_S / max(cost, 1e-6), FEW_SEEDS, SEEDS))
    seeds = np.array([first(other, seed + 1 + i) for i in range(count)])
    drift, resets = _drift(env, first, seed, int(BUDGET_S / max(cost, 1e-6)))
    close_quietly(env)
    close_quietly(other)
    return Starts(seed, fresh, fresh_again, again, seeds, _unseeded(world, first), drift, resets)


def _drift(env: Any, first: _Starter, seed: int, affordable: int) -> tuple[Array, int]:
    if affordable < RESETS // 2:
        return np.zeros((0, 0)), 0
    resets = min(RESETS, affordable) // PARTS * PARTS
    rows: list[Array] = []
    for i in range(resets):
        first(env, seed + 100 + i)
        if (i + 1) % (resets // PARTS) == 0:
            with global_rng.borrowed(31):
                rows.append(first(env, seed))
    return np.array(rows), resets


class _Starter:
    """Resets an environment and takes one step, so that no two resets follow each other."""

    def __init__(self, world: World) -> None:
        self.flatten = player_of(world).flatten
        self.action = next((e.actions[0] for e in world.episodes if e.length), None)

    def __call__(self, env: Any, seed: int | None) -> Array:
        row = self.flatten(_seen(env.reset(seed=seed)))
        if self.action is not None:
            env.step(copy_of(self.action))
        return row


def _seen(told: Any) -> Any:
    return told[0] if is_tuple(told) else told


def _unseeded(world: World, first: Any) -> Array:
    found: list[Array] = []
    begin = time.perf_counter()
    for rng in range(41, 41 + MOST_UNSEEDED):  # a start from the global generators is told by another check
        with global_rng.borrowed(rng):
            env = world.make()
            found.append(first(env, None))
            close_quietly(env)
        if differ(found[0], found[-1]) or (len(found) >= LEAST_UNSEEDED and time.perf_counter() - begin > BUDGET_S):
            break
    return np.array(found)


def _histories(world: World) -> tuple[Histories, ...]:
    usable = [e for e in world.episodes if e.seed is not None and e.length and not e.resets_by_itself]
    if not usable:
        return ()
    ended = [e for e in usable if e.ended] or usable
    cost = float(world.facts.get("seconds_per_step", 1e-4))
    most = max(20, int(BUDGET_S / 6 / cost))
    probe = usable[0]
    befores = {id(e): e for e in (max(ended, key=lambda e: e.length), ended[-1])}
    found: list[Histories] = []
    with global_rng.borrowed(51):
        fresh = world.play(probe.actions[:most], probe.seed)
    for before in befores.values():
        with global_rng.borrowed(51):
            found.append(_after(world, before, probe, fresh, most))
    return tuple(found)


def _after(world: World, before: Episode, probe: Episode, fresh: Episode, most: int) -> Histories:
    env = world.make()
    try:
        env.reset(seed=before.seed)
        for action in before.actions[:most]:
            env.step(copy_of(action))
        global_rng.seed_all(51)
        after = player_of(world).replay(env, probe.actions[:most], probe.seed)
    finally:
        close_quietly(env)
    return Histories(fresh, after, min(before.length, most))
