"""Bugs of vector environments and of environments with several agents."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ..planted.bases import Table
from ..planted.vectors import Outside, Pair, pettingzoo
from .catalogue import bug


def tables(n: int = 6) -> Any:
    return SyncVectorEnv([Table] * n, autoreset_mode=AutoresetMode.NEXT_STEP)


@bug("vector-rows-in-order-of-arrival", tables)
def arrival() -> Any:
    class Arrival(Outside):
        """Workers answer in any order, and the rows are not sorted back; actions go to the right copies."""

        rng = np.random.default_rng()

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            self.rng = np.random.default_rng(None if seed is None else int(np.ravel(seed)[0]))
            return super().reset(seed=seed, options=options)

        def changed(self, *values: Any) -> Any:
            came = self.rng.permutation(self.num_envs)
            return *(rows[came] for rows in values[:4]), values[4]

    return Arrival(tables())


@bug("vector-of-one-instance", tables)
def one_instance() -> Any:
    """`[lambda: env] * 6` with an environment that was made once."""
    env = Table()
    return SyncVectorEnv([lambda: env] * 6, autoreset_mode=AutoresetMode.NEXT_STEP)


def pair() -> Any:
    return pettingzoo(Pair)


class FirstView(Pair):
    """observe() has the first agent's name in it."""

    def seen(self) -> Any:
        seen = super().seen()
        return {agent: seen[next(iter(seen))].copy() for agent in seen}


@bug("agents-share-the-first-view", pair)
def first_view() -> Any:
    return pettingzoo(FirstView)


class Emptied(Pair):
    """`self.agents = self.possible_agents` without a copy, and whoever is done is removed from it."""

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["possible_agents"] = ["left", "right"]

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents, self.t = self.possible_agents, 0
        self.where = {a: float(self.rng.normal()) for a in self.agents}
        return self.seen(), {a: {} for a in self.agents}

    def step(self, actions: Any) -> Any:
        named = self.agents
        found = super().step(actions)
        live, self.agents = self.agents, named
        for agent in [a for a in named if a not in live]:
            named.remove(agent)
        return found


@bug("possible-agents-emptied", pair)
def emptied() -> Any:
    return pettingzoo(Emptied)
