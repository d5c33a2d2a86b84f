"""The same seed and actions played again, in fresh environments and under other global generators."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from . import global_rng
from .differences import Difference, first_difference
from .recording import close_quietly
from .remembered import remembered
from .world import Episode, World

MOST_STEPS = 600
"""Horizon of a comparison: hundreds of steps, since faults deep in an episode are those that one step misses."""
BUDGET_S = 2.0


@dataclass(frozen=True)
class Twin:
    """One recorded episode played again."""

    episode: Episode
    again: Difference | None
    """Two fresh plays under the same global generators."""
    disturbed: Difference | None
    """Two fresh plays under different global generators."""
    recorded: Difference | None
    """A fresh play against the recording, which was made on an environment with a history."""
    steps: int


@dataclass(frozen=True)
class Draws:
    """What one episode did to the global generators."""

    reset_draws: tuple[str, ...]
    """Generators whose state `reset` changed."""
    step_draws: tuple[str, ...]
    make_draws: tuple[str, ...]
    reseeded: tuple[str, ...]
    """Generators that ended in the same state whatever their state was before."""

    @property
    def touched(self) -> tuple[str, ...]:
        """Generators whose state changed at all."""
        return tuple(sorted({*self.make_draws, *self.reset_draws, *self.step_draws}))


def twins_of(world: World) -> tuple[Twin, ...]:
    """Return the comparisons of `world`, made once; empty when nothing can be played again."""
    return remembered(world, "twins", lambda: _twins(world))


def longest(world: World) -> Episode | None:
    """Return the longest random episode that can be played again."""
    usable = [e for e in world.episodes if e.seed is not None and e.length and not e.resets_by_itself]
    return max(usable, key=lambda e: e.length, default=None)


def draws_of(world: World) -> Draws:
    """Return what `world` does to the global generators, found once."""
    return remembered(world, "draws", lambda: _draws(world))


def _twins(world: World) -> tuple[Twin, ...]:
    usable = [e for e in world.all_episodes if e.seed is not None and e.length and not e.resets_by_itself]
    by_length = sorted(usable, key=lambda e: -e.length)
    chosen = [*by_length[:2], *by_length[len(by_length) // 2 :][:1]]
    begin = time.perf_counter()
    found: list[Twin] = []
    cost = float(world.facts.get("seconds_per_step", 1e-4))
    for episode in chosen:
        if found and time.perf_counter() - begin > BUDGET_S:
            break
        steps = min(episode.length, MOST_STEPS, max(30, int(BUDGET_S / 3 / cost)))
        found.append(_twin(world, episode, steps))
    return tuple(found)


def _twin(world: World, episode: Episode, steps: int) -> Twin:
    actions = episode.actions[:steps]
    plays: list[Episode] = []
    for rng in (11, 11, 12):
        with global_rng.borrowed(rng):
            plays.append(world.play(actions, episode.seed))
    names = world.dimensions
    whole = steps == episode.length
    short = episode if whole else cut(episode, steps)
    return Twin(
        episode,
        first_difference(plays[0], plays[1], names),
        first_difference(plays[0], plays[2], names),
        first_difference(short, plays[0], names),
        steps,
    )


def cut(episode: Episode, steps: int) -> Episode:
    """Return the first `steps` steps of `episode`."""
    return Episode(
        episode.seed,
        episode.observations[: steps + 1],
        episode.actions[:steps],
        episode.action_array[:steps],
        episode.rewards[:steps],
        episode.terminated[:steps],
        episode.truncated[:steps],
        episode.resets_by_itself,
    )


def _draws(world: World) -> Draws:
    episode = max(world.episodes, key=lambda e: e.length)
    with global_rng.borrowed(21):
        first = _spans(world, episode, 21)
        second = _spans(world, episode, 22)
    ends = (first[-1], second[-1])
    changed = [global_rng.changed(a, b) for a, b in pairwise(first)]
    touched = {name for names in changed for name in names}
    reseeded = [n for n in touched if ends[0][n] == ends[1][n]]
    return Draws(tuple(changed[1]), tuple(changed[2]), tuple(changed[0]), tuple(sorted(reseeded)))


def _spans(world: World, episode: Episode, rng: int) -> list[dict[str, Any]]:
    """States of the generators before making, after making, after reset, after up to 100 steps."""
    global_rng.seed_all(rng)
    kept = [global_rng.states()]
    env = world.make()
    kept.append(global_rng.states())
    try:
        env.reset(seed=episode.seed)
        kept.append(global_rng.states())
        for action in episode.actions[:100]:
            told = env.step(action)
            if told[2] or told[3]:
                break
        kept.append(global_rng.states())
    finally:
        close_quietly(env)
    return kept
