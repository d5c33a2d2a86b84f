"""`build_world`: random episodes of an environment, and deep ones, within a budget of seconds, steps and bytes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...isolation.journal import Journal
from .budget import Budget, Purse
from .deep import deep_episodes
from .loading import Source, source_of
from .recorder import Player
from .shapes import attributes_of, is_array, is_mapping
from .world import Array, Episode, Trouble, World

LONGEST = 2500
"""Steps of an episode that has no declared limit, so that never-ending ones are seen as such."""
BEYOND_LIMIT = 50
"""Steps played beyond a declared limit that is not kept."""
LEAST_EPISODES = 6
"""Slow environments get at least about this many episodes, cut short if need be."""
MOST_FAILURES = 3


def build_world(
    target: str | Callable[[], Any] | Source,
    *,
    seed: int = 0,
    budget: Budget | None = None,
    journal: Journal | None = None,
    most_depth: int | None = None,
) -> World:
    """Record what the checks of an environment look at.

    Args:
        target: a Gymnasium id, `module:factory`, a factory, or what `source_of` returned.
        seed: of everything that is drawn.
        budget: what recording may cost.
        journal: where each call is noted before it is made.
        most_depth: cut every episode at this many steps (what lies beyond is known to kill the process).

    Raises:
        InputError: the target names no environment.
        Exception: whatever making the environment raised.
    """
    source = target if isinstance(target, Source) else source_of(target, journal)
    begin, clock = time.perf_counter(), Purse(budget or Budget())
    env = source.make()
    player = Player(env.observation_space, env.action_space)
    world = World(
        source.target,
        source.make,
        env.observation_space,
        env.action_space,
        time_limit_of(env),
        dimensions=player.flatten.names,
        kind=source.kind,
        make_raw=source.make_raw,
        seed=seed,
    )
    world.play = Replayer(world, player, most_depth).play
    record = _Recording(world, player, env, clock.budget, most_depth)
    record.random_episodes()
    world.facts["random_troubles"] = player.contract.troubles
    if world.episodes:
        world.deep_episodes = deep_episodes(world, player, record.rest(clock), most_depth)
    world.troubles = player.contract.troubles
    if source.kind == "parallel":
        world.notes.append(f"numbers are those of agent {env.agent}; what the others get was held to the contract only")
    world.facts |= {
        "recording_s": round(time.perf_counter() - begin, 3),
        "steps": sum(e.length for e in world.all_episodes),
        "seconds_per_step": record.seconds_per_step,
    }
    return world


def time_limit_of(env: Any) -> int | None:
    """Return the declared number of steps after which episodes are cut, None when nothing declares it."""
    layer, limits = env, list[int]()
    for _ in range(30):
        found: Any = attributes_of(layer).get("_max_episode_steps")
        if isinstance(found, int) and found > 0:
            limits.append(found)
        layer = getattr(layer, "env", None)
        if layer is None:
            break
    spec: Any = getattr(env, "spec", None)
    declared = getattr(spec, "max_episode_steps", None)
    if isinstance(declared, int) and declared > 0:
        limits.append(declared)
    return min(limits) if limits else None


class Replayer:
    """Plays lists of actions in fresh environments."""

    def __init__(self, world: World, player: Player, most_depth: int | None = None) -> None:
        self._world, self._player, self._most = world, player, most_depth

    def play(self, actions: Sequence[Any], seed: int | None) -> Episode:
        """Play `actions` from `reset(seed=seed)` in a fresh environment; ends early when the episode ends."""
        env = self._world.make()
        try:
            return self._player.replay(env, actions[: self._most], seed)
        finally:
            close_quietly(env)


class Chooser:
    """Draws random actions from a copy of the action space, within the mask that info gives, if any."""

    def __init__(self, space: Any, seed: int) -> None:
        import copy

        self.space = copy.deepcopy(space)
        self.space.seed(seed)

    def __call__(self, row: Array, info: Any) -> Any:
        """Return a random action."""
        mask: Any = info.get("action_mask") if is_mapping(info) else None
        if is_array(mask) and hasattr(self.space, "n") and mask.any():
            return self.space.sample(mask=mask.astype(np.int8))
        return self.space.sample()


class _Recording:
    """Random episodes on one environment that lives on, as in training."""

    def __init__(self, world: World, player: Player, env: Any, budget: Budget, most_depth: int | None) -> None:
        self.world, self.player, self.env, self.budget, self.most_depth = world, player, env, budget, most_depth
        self.seconds_per_step = 0.0
        self.whole = 0

    def random_episodes(self) -> None:
        """Record until the budget is spent or the environment failed too often."""
        purse = Purse(self.budget.share(0.75))
        choose = Chooser(self.world.action_space, self.world.seed)
        episodes: list[Episode] = []
        failures = 0
        while not purse.empty and purse.left_steps(self.player.row_bytes) and failures < MOST_FAILURES:
            known = sum(t.count for t in self.player.contract.troubles if t.kind == "raised")
            episode = self._one(self.world.seed + purse.episodes, choose, purse)
            purse.episodes += 1
            if episode is not None and episode.length:
                episodes.append(episode)
                purse.steps += episode.length
                self.whole += episode.ended
            if sum(t.count for t in self.player.contract.troubles if t.kind == "raised") > known:
                failures += 1
                close_quietly(self.env)
                self.env = self.world.make()
        self.seconds_per_step = purse.seconds / max(1, purse.steps)
        self.world.episodes = tuple(episodes)
        try:
            self.env.close()
        except Exception as error:
            self.player.contract.trouble(Trouble("raised", "close", f"{type(error).__name__}: {error}"[:300]))

    def rest(self, clock: Purse) -> Budget:
        """Return what the random episodes have left of the budget, a quarter at least."""
        quarter = self.budget.share(0.25)
        return replace(quarter, seconds=max(quarter.seconds, self.budget.seconds - clock.seconds))

    def _one(self, seed: int, choose: Chooser, purse: Purse) -> Episode | None:
        most = min(self._most_steps(purse), purse.left_steps(self.player.row_bytes))
        try:
            return self.player.episode(self.env, seed, choose, most, purse)
        except Exception:
            return None  # it was noted as a trouble

    def _most_steps(self, purse: Purse) -> int:
        """The length at which an episode is cut: beyond the declared limit, unless the environment is slow."""
        limit = self.world.time_limit
        most = LONGEST if limit is None else limit + BEYOND_LIMIT
        if purse.steps >= 32:
            possible = purse.budget.seconds / (purse.seconds / purse.steps)
            if limit is not None and possible < LEAST_EPISODES * limit:
                whole = self.whole < 2 and possible > 2.5 * limit  # two ends are worth more than many beginnings
                most = most if whole else min(most, max(64, int(possible / LEAST_EPISODES)))
        else:
            most = min(most, 200 if limit is None or limit > 200 else most)
        return most if self.most_depth is None else min(most, self.most_depth)


def close_quietly(env: Any) -> None:
    """Close `env`; what closing raises is looked at by a check of its own."""
    with contextlib.suppress(Exception):
        env.close()
