"""A fault with the actions that lead to it: kept on the world, made as short as can be, written as a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .shrink import shortest
from .world import Array, Episode, Trouble, World

Again = Callable[[World, list[Any], int | None], bool]
"""Whether these actions from this seed show the fault again."""
BUDGET_STEPS = 20_000
BUDGET_S = 1.5


@dataclass(frozen=True)
class Case:
    """How to see a fault again."""

    fault: str
    """A key of `script.ASSERTIONS`: what the last call must show."""
    seed: int | None
    actions: tuple[Any, ...]


def keep_case(world: World, check: str, case: Case) -> None:
    """Keep the case of `check`, for the script."""
    cases: dict[str, Case] = world.facts.setdefault("cases", {})
    cases[check] = case


def case_of(world: World, check: str) -> Case | None:
    """Return the case of `check`, None when it has none."""
    return world.facts.get("cases", {}).get(check)


def shortest_case(
    world: World, trouble: Trouble, fault: str, again: Callable[[World, list[Any], int | None], bool]
) -> Case:
    """Return the shortest list of actions that `again` shows to lead to the like of `trouble`."""
    cost = float(world.facts.get("seconds_per_step", 1e-4))
    steps = max(2 * len(trouble.actions), min(BUDGET_STEPS, int(BUDGET_S / max(cost, 1e-7))))
    found = shortest(trouble.actions, lambda actions: again(world, actions, trouble.seed), steps)
    return Case(fault, trouble.seed, tuple(found))


def keep_shortest(world: World, check: str, fault: str, episode: Episode, steps: int, again: Again) -> None:
    """Keep the shortest actions that show `fault` as the first `steps` of `episode` did, if they do so once more."""
    actions = episode.actions[:steps]
    if again(world, list(actions), episode.seed):
        trouble = Trouble(fault, "step", "", episode.seed, actions)
        keep_case(world, check, shortest_case(world, trouble, fault, again))


def ends_not_finite(part: Callable[[Episode], Array]) -> Again:
    """Return a test whether after these actions the last row of `part` of the episode holds NaN or infinity."""

    def again(world: World, actions: list[Any], seed: int | None) -> bool:
        try:
            episode = world.play(actions, seed)
        except Exception:
            return False
        rows = part(episode)
        return episode.length == len(actions) and bool(len(rows)) and not bool(np.isfinite(rows[-1]).all())

    return again


def raises(kind: str) -> Again:
    """Return a test whether actions lead to an exception whose text begins with `kind`."""

    def again(world: World, actions: list[Any], seed: int | None) -> bool:
        try:
            world.play(actions, seed)
        except Exception as error:
            return type(error).__name__ == kind
        return False

    return again


def troubled(kind: str) -> Again:
    """Return a test whether the last of some actions breaks the contract in the way `kind`."""

    def again(world: World, actions: list[Any], seed: int | None) -> bool:
        from .recorder import Player
        from .recording import close_quietly

        player = Player(world.observation_space, world.action_space)
        env = world.make()
        left = iter(actions)
        try:
            episode = player.episode(env, seed, lambda row, info: next(left), len(actions))
        except Exception:
            return False
        finally:
            close_quietly(env)
        return _reached(episode, actions, player.contract.troubles, kind)

    return again


def _reached(episode: Episode, actions: list[Any], troubles: tuple[Trouble, ...], kind: str) -> bool:
    del episode
    return any(t.kind == kind and len(t.actions) <= len(actions) for t in troubles)
