"""What an episode of a world pays, without discount: by the best policy, by chance, by a given choice. In closed form.

Holds for worlds whose episodes end within as many steps as there are states, which those with a choice do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .world import GOES_ON, Kind, World

Pick = Callable[[Sequence[float]], float]
"""From what each cell of a state is worth [C] to what the state is worth."""


def best_return(world: World, kind: Kind) -> float:
    """Return what the best policy earns in an episode, on average over the starts."""
    return 1.0 if world.targets else _from_starts(world, kind, lambda state: max)


def random_return(world: World, kind: Kind) -> float:
    """Return what uniformly drawn actions earn in an episode, on average."""
    if world.targets:
        return float(np.mean(_drawn_dimensions(world, kind)))
    return _from_starts(world, kind, lambda state: lambda worth: float(np.mean(worth)))


def return_of_choice(world: World, kind: Kind, cells: Mapping[int, int]) -> float:
    """Return what a policy earns that takes the given cell in each state; elsewhere it draws uniformly."""

    def pick(state: int) -> Pick:
        if state not in cells:
            return lambda worth: float(np.mean(worth))
        return lambda worth: worth[cells[state]]

    return _from_starts(world, kind, pick)


def return_of_action(world: World, kind: Kind, action: Sequence[float]) -> float:
    """Return what one fixed action of several dimensions [A] earns."""
    if kind == "discrete":
        return float(np.mean([int(a) == right for a, (_, right) in zip(action, world.choices, strict=True)]))
    parts = zip(action, world.low, world.high, world.targets, strict=True)
    return float(np.mean([1.0 - abs(min(max(a, low), high) - t) / (high - low) for a, low, high, t in parts]))


def _drawn_dimensions(world: World, kind: Kind) -> list[float]:
    """The mean reward of each action dimension under uniform actions [A]."""
    if kind == "discrete":
        return [1.0 / count for count, _ in world.choices]
    places = [(t - low) / (high - low) for low, high, t in zip(world.low, world.high, world.targets, strict=True)]
    return [1.0 - (f**2 + (1.0 - f) ** 2) / 2.0 for f in places]  # the mean distance to f of a uniform number


def _from_starts(world: World, kind: Kind, pick_in: Callable[[int], Pick]) -> float:
    worth = [0.0] * world.states
    for _ in range(world.states):
        worth = [pick_in(s)([_cell_worth(world, kind, s, c, worth) for c in range(world.cells)]) for s in _all(world)]
    return float(np.mean([worth[s] for s in world.starts]))


def _all(world: World) -> range:
    return range(world.states)


def _cell_worth(world: World, kind: Kind, state: int, cell: int, worth: Sequence[float]) -> float:
    """The reward of a cell and what follows; a graded Box pays at its bounds what its outer cells pay."""
    rewards = world.rewards[state]
    if world.graded and kind == "continuous":
        share = cell / (world.cells - 1)
        reward = rewards[0][0] * (1.0 - share) + rewards[-1][0] * share
    else:
        reward = float(np.mean(rewards[cell]))
    goes_on = world.ends[state][cell] == GOES_ON
    return reward + (worth[world.successors[state][cell]] if goes_on else 0.0)
