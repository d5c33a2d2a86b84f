"""Bugs of resets, seeds and generators."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

from ..planted.bases import Drive, Step, cartpole
from .catalogue import bug


@bug("wrapper-drops-the-seed", cartpole)
def drops_the_seed() -> Any:
    class Drops(gym.Wrapper[Any, Any, Any, Any]):
        """A wrapper of old days, whose reset hands nothing on."""

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return self.env.reset()

    return Drops(cartpole())


@bug("reset-takes-no-options", Drive)
class NoOptions(Drive):
    """reset has no parameter `options`, which vector environments and wrappers hand on."""

    def reset(self, *, seed: int | None = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().reset(seed=seed)


class Duel(gym.Env[Any, Any]):
    """Stone, paper, scissors against one who plays the same again in three rounds of five; 50 rounds."""

    limit = 50

    def __init__(self) -> None:
        self.observation_space = Box(0, 1, (6,), np.float32)
        self.action_space = Discrete(3)
        self.mine, self.other, self.t = 0, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.mine, self.other = (int(x) for x in self.np_random.integers(0, 3, 2))
        self.t = 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        self.mine = int(action)
        if self.np_random.random() > 0.6:
            self.other = self.drawn()
        reward = (0.0, 1.0, -1.0)[(self.mine - self.other) % 3]
        return self.seen(), reward, False, self.t >= self.limit, {}

    def drawn(self) -> int:
        return int(self.np_random.integers(3))

    def seen(self) -> Any:
        seen = np.zeros(6, np.float32)
        seen[[self.mine, 3 + self.other]] = 1
        return seen


@bug("opponent-drawn-from-action-space", Duel)
class FromSpace(Duel):
    """The opponent's move is `action_space.sample()`, whose generator no reset seeds and the user moves on."""

    def drawn(self) -> int:
        return int(self.action_space.sample())


@bug("start-drawn-by-torch", Drive)
class ByTorch(Drive):
    """The start comes from torch's global generator."""

    def start(self) -> None:
        import torch

        super().start()
        self.position = (2 * torch.rand(2) - 1).double().numpy()


class Leg(gym.Env[Any, Any]):
    """Five joints of different stiffness, seen by their names; 120 steps."""

    limit = 120
    names = ("hip", "knee", "ankle", "heel", "toe")

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (5,), np.float32)
        self.action_space = Box(-1, 1, (5,), np.float32)
        self.angles, self.t = dict.fromkeys(self.names, 0.0), 0

    def order(self) -> Any:
        return self.names

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.angles = {name: float(self.np_random.uniform(-1, 1)) for name in self.names}
        self.t = 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        for i, name in enumerate(self.names):
            self.angles[name] = (0.95 - 0.05 * i) * self.angles[name] + 0.1 * float(np.clip(action[i], -1, 1))
        return self.seen(), -sum(abs(a) for a in self.angles.values()), False, self.t >= self.limit, {}

    def seen(self) -> Any:
        return np.array([self.angles[name] for name in self.order()], np.float32)


@bug("order-of-a-set-of-names", Leg)
class Unordered(Leg):
    """The joints are kept in a set of names, so their order in the observation is another in each process."""

    def order(self) -> Any:
        return set(self.names)


class OldPole:
    """CartPole with the interface of gym before 0.26; info says whether the end was the time limit."""

    always = False

    def __init__(self) -> None:
        self.env = cartpole()
        self.observation_space, self.action_space = self.env.observation_space, self.env.action_space
        self.given: int | None = None

    def seed(self, seed: int | None = None) -> None:
        self.given = seed

    def reset(self) -> Any:
        seed, self.given = self.given, None
        return self.env.reset(seed=seed)[0]

    def step(self, action: Any) -> Any:
        obs, reward, fallen, cut, _ = self.env.step(action)
        done = fallen or cut
        return obs, reward, done, {"TimeLimit.truncated": self.always or not fallen} if done else {}

    def close(self) -> None:
        self.env.close()


@bug("old-gym-calls-each-end-a-limit", OldPole)
class AlwaysLimit(OldPole):
    """TimeLimit.truncated is True at each end, also where the pole fell."""

    always = True
