"""Planted bugs of vector and multi-agent environments."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from .bases import Table, cartpole
from .catalogue import planted


def copies(n: int = 8, mode: AutoresetMode = AutoresetMode.SAME_STEP, make: Any = cartpole) -> Any:
    return SyncVectorEnv([make] * n, autoreset_mode=mode)


class Outside(gym.vector.VectorWrapper):
    """A vector wrapper that may change what reset and step return."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> Any:
        return self.changed(*self.env.step(actions))

    def changed(self, *values: Any) -> Any:
        return values


@planted("vector-identical-copies")
def identical() -> Any:
    class Same(Outside):
        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            return self.env.reset(seed=[0 if seed is None else int(np.ravel(seed)[0])] * self.num_envs, options=options)

    return Same(copies())


@planted("vector-identical-copies", "twin")
def seeded_apart() -> Any:
    return copies()


@planted("vector-rows-share-one-observation")
def shared_rows() -> Any:
    class Shared(Outside):
        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            obs, info = self.env.reset(seed=seed, options=options)
            return np.repeat(obs[:1], len(obs), axis=0), info

        def changed(self, obs: Any, *rest: Any) -> Any:
            return np.repeat(obs[:1], len(obs), axis=0), *rest

    return Shared(copies(make=Table))


class Plain(VectorEnv[Any, Any, Any]):
    """Eight CartPoles stepped by hand, so that any mistake at the end of an episode can be made."""

    def __init__(self, mode: AutoresetMode = AutoresetMode.SAME_STEP) -> None:
        self.envs = [cartpole() for _ in range(8)]
        self.num_envs = 8
        one = self.envs[0]
        self.single_observation_space, self.single_action_space = one.observation_space, one.action_space
        self.observation_space = gym.vector.utils.batch_space(one.observation_space, 8)
        self.action_space = gym.vector.utils.batch_space(one.action_space, 8)
        self.metadata = {"autoreset_mode": mode}
        self.done = np.zeros(8, bool)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        first = [e.reset(seed=None if seed is None else int(np.ravel(seed)[0]) + i) for i, e in enumerate(self.envs)]
        self.done[:] = False
        return np.stack([obs for obs, _ in first]), {}

    def step(self, actions: Any) -> Any:
        rows, finals = [], [None] * 8
        for i, (env, action) in enumerate(zip(self.envs, actions, strict=True)):
            row, finals[i] = self.one(i, env, action)
            rows.append(row)
        obs, reward, terminated, truncated = (np.stack([np.asarray(r[k]) for r in rows]) for k in range(4))
        ended = np.logical_or(terminated, truncated)
        return obs, reward.astype(float), terminated.astype(bool), truncated.astype(bool), self.tells(finals, ended)

    def one(self, i: int, env: Any, action: Any) -> Any:
        """Step one copy and start it over at once when it ends; return its row and its final observation."""
        obs, reward, terminated, truncated, _ = env.step(action)
        final = None
        if terminated or truncated:
            final = obs
            obs, _ = env.reset()
        return (obs, reward, terminated, truncated), final

    def tells(self, finals: Any, ended: Any) -> dict[str, Any]:
        if not ended.any():
            return {}
        array = np.empty(8, object)
        array[:] = finals
        return {"final_obs": array, "_final_obs": ended}

    def close_extras(self, **options: Any) -> None:
        for env in self.envs:
            env.close()


@planted("vector-no-reset-after-done")
class NoReset(Plain):
    def one(self, i: int, env: Any, action: Any) -> Any:
        if self.done[i]:
            return (np.asarray(env.unwrapped.state, np.float32), 0.0, True, False), None
        obs, reward, terminated, truncated, _ = env.step(action)
        self.done[i] = terminated or truncated
        return (obs, reward, terminated, truncated), None

    def tells(self, finals: Any, ended: Any) -> dict[str, Any]:
        return {}


@planted("vector-no-reset-after-done", "twin")
def disabled() -> Any:
    return copies(mode=AutoresetMode.DISABLED)


class NextStep(Plain):
    """Starts a finished copy over in the step after."""

    def one(self, i: int, env: Any, action: Any) -> Any:
        if self.done[i]:
            self.done[i] = False
            return (env.reset()[0], 0.0, False, False), None
        obs, reward, terminated, truncated, _ = env.step(action)
        self.done[i] = terminated or truncated
        return (obs, reward, terminated, truncated), None

    def tells(self, finals: Any, ended: Any) -> dict[str, Any]:
        return {}


@planted("next-step-declared-same-step")
def wrongly_declared() -> Any:
    return NextStep(AutoresetMode.SAME_STEP)


@planted("next-step-declared-same-step", "twin")
def rightly_declared() -> Any:
    return NextStep(AutoresetMode.NEXT_STEP)


@planted("final-obs-is-reset-obs")
class FinalIsReset(Plain):
    def one(self, i: int, env: Any, action: Any) -> Any:
        (obs, *rest), final = super().one(i, env, action)
        return (obs, *rest), None if final is None else obs


@planted("reset-obs-without-final-obs")
class NoFinal(Plain):
    def tells(self, finals: Any, ended: Any) -> dict[str, Any]:
        return {}


class Pair:
    """Two agents that each push a number; the PettingZoo parallel interface."""

    metadata: ClassVar[dict[str, Any]] = {"name": "pair_v0", "is_parallelizable": True}
    possible_agents: ClassVar[list[str]] = ["left", "right"]
    limit = 60

    def __init__(self) -> None:
        self.agents: list[str] = []
        self.render_mode = None
        self.rng = np.random.default_rng()
        self.t = 0
        self.where: dict[str, float] = {}

    def observation_space(self, agent: str) -> Any:
        return self.spaces()[0]

    def action_space(self, agent: str) -> Any:
        return self.spaces()[1]

    def spaces(self) -> Any:
        if not hasattr(self, "_spaces"):
            self._spaces = (Box(-100, 100, (2,), np.float32), Discrete(2))
        return self._spaces

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents, self.t = list(self.possible_agents), 0
        self.where = {a: float(self.rng.normal()) for a in self.agents}
        return self.seen(), {a: {} for a in self.agents}

    def seen(self) -> Any:
        return {a: np.array([self.where[a], sum(self.where.values())], np.float32) for a in self.agents}

    def step(self, actions: Any) -> Any:
        self.t += 1
        acted = list(self.agents)
        for a in acted:
            self.where[a] = 0.9 * self.where[a] + (2 * int(actions[a]) - 1) * 0.5 + 0.1 * float(self.rng.normal())
        terminated = {a: self.leaves(a) for a in acted}
        truncated = dict.fromkeys(acted, self.t >= self.limit)
        obs, rewards = self.seen(), self.pays(acted)
        self.agents = [a for a in acted if not (terminated[a] or truncated[a])]
        return obs, rewards, terminated, truncated, {a: {} for a in acted}

    def pays(self, acted: list[str]) -> dict[str, float]:
        return {a: -abs(self.where[a]) for a in acted}

    def leaves(self, agent: str) -> bool:
        return False

    @property
    def unwrapped(self) -> Any:
        return self

    def close(self) -> None:
        pass

    def render(self) -> None:
        pass


def pettingzoo(cls: type[Pair]) -> Any:
    """Make the class a true PettingZoo one."""
    from pettingzoo import ParallelEnv

    return type(cls.__name__, (cls, ParallelEnv), {})()


class Forgets(Pair):
    """Omits the second agent's reward."""

    def pays(self, acted: list[str]) -> dict[str, float]:
        return {a: r for a, r in super().pays(acted).items() if self.t <= 25 or a == "left"}


class Leaves(Pair):
    """The second agent leaves for good."""

    def leaves(self, agent: str) -> bool:
        return agent == "right" and self.t == 25


@planted("parallel-agent-missing-from-dict")
def forgets() -> Any:
    return pettingzoo(Forgets)


@planted("parallel-agent-missing-from-dict", "twin")
def leaves() -> Any:
    return pettingzoo(Leaves)
