"""Bugs of vector environments and of environments with several agents."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ..planted.bases import Drive, Table
from ..planted.vectors import Outside, Pair, pettingzoo
from .catalogue import bug, other


def tables(make: Any = Table) -> Any:
    return SyncVectorEnv([make] * 8, autoreset_mode=AutoresetMode.SAME_STEP)


other("vector-of-tables")(tables)


@bug("vector-rewards-one-row-off", tables)
def rolled() -> Any:
    class Rolled(Outside):
        def changed(self, obs: Any, reward: Any, *rest: Any) -> Any:
            return obs, np.roll(reward, 1), *rest

    return Rolled(tables())


@bug("vector-copies-in-pairs", tables)
def pairs() -> Any:
    class Pairs(Outside):
        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            first = int(np.random.randint(1 << 30)) if seed is None else int(np.ravel(seed)[0])
            return self.env.reset(seed=[first + i // 2 for i in range(self.num_envs)], options=options)

    return Pairs(tables())


@bug("vector-limit-as-terminated", tables)
def merged() -> Any:
    class Merged(Outside):
        def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
            return obs, reward, terminated | truncated, np.zeros_like(truncated), info

    return Merged(tables())


class SecondIsNaN(Pair):
    """The second agent's observation is NaN from step 30 on."""

    def seen(self) -> Any:
        seen = super().seen()
        if self.t > 30 and "right" in seen:
            seen["right"][1] = np.nan
        return seen


def pair() -> Any:
    return pettingzoo(Pair)


other("parallel-pair")(pair)


@bug("second-agent-nan", pair)
def second_nan() -> Any:
    return pettingzoo(SecondIsNaN)


class TwoOfTwo(Pair):
    """Only the first agent is told of the time limit; the second plays on alone for ever."""

    def step(self, actions: Any) -> Any:
        obs, rewards, terminated, truncated, infos = super().step(actions)
        truncated = {a: t and a == "left" for a, t in truncated.items()}
        self.agents = [a for a in obs if not (terminated[a] or truncated[a])]
        return obs, rewards, terminated, truncated, infos


@bug("limit-told-to-first-agent-only", pair)
def first_only() -> Any:
    return pettingzoo(TwoOfTwo)


other("vector-of-drives")(lambda: tables(Drive))
