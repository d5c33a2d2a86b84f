"""What the recorded Stable-Baselines3 runs train on: two tiny tasks, and wrappers and sub-classes with a fault."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3 import SAC


class Corridor(gym.Env):
    """Walk right along nine cells; each step costs 0.1, the end pays 1, 30 steps at most."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (9,), np.float32)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps = int(self.np_random.integers(0, 4)), 0
        return self._see(), {}

    def _see(self):
        return np.eye(9, dtype=np.float32)[self.at]

    def step(self, action):
        self.at = min(8, max(0, self.at + (1 if action == 1 else -1)))
        self.steps += 1
        end = self.at == 8
        return self._see(), 1.0 if end else -0.1, end, self.steps >= 30, {}


class PointMass(gym.Env):
    """Bring a mass on a line to rest at the origin: quadratic costs, 50 steps, the return is never positive."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-10.0, 10.0, (2,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.steps = self.np_random.uniform(-1, 1, 2).astype(np.float32), 0
        return self.x.copy(), {}

    def step(self, action):
        force = float(np.clip(action[0], -1, 1))
        place, speed = float(self.x[0]), float(self.x[1])
        cost = place**2 + 0.1 * speed**2 + 0.01 * force**2
        speed = float(np.clip(speed + 0.2 * force, -3, 3))
        self.x = np.array([np.clip(place + 0.2 * speed, -5, 5), speed], np.float32)
        self.steps += 1
        return self.x.copy(), -cost, False, self.steps >= 50, {}


class Rewards(gym.Wrapper):
    """Changes the reward by `change(reward, step, rng)`, where `step` counts this environment's own steps."""

    def __init__(self, env: gym.Env, change: Callable[[float, int, np.random.Generator], float]) -> None:
        super().__init__(env)
        self.change, self.count, self.rng = change, 0, np.random.default_rng(0)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.count += 1
        return obs, self.change(float(reward), self.count, self.rng), terminated, truncated, info


class Observations(gym.Wrapper):
    """Changes the observation by `change(observation, step)`."""

    def __init__(self, env: gym.Env, change: Callable[[Any, int], Any]) -> None:
        super().__init__(env)
        self.change, self.count = change, 0

    def reset(self, **kwargs):
        obs, info = self.env.reset(**kwargs)
        return self.change(obs, self.count), info

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.count += 1
        return self.change(obs, self.count), reward, terminated, truncated, info


class Endings(gym.Wrapper):
    """`stuck`: every step ends the episode. `unmasked`: a failure is reported as a time limit."""

    def __init__(self, env: gym.Env, how: str) -> None:
        super().__init__(env)
        self.how = how

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.how == "stuck":
            return obs, reward, True, False, info
        return obs, reward, False, terminated or truncated, info


class Actions(gym.ActionWrapper):
    """Multiplies the action by `factor` before the task sees it."""

    def __init__(self, env: gym.Env, factor: float) -> None:
        super().__init__(env)
        self.factor = factor

    def action(self, action):
        return np.asarray(action) * self.factor


class TwinSAC(SAC):
    """SAC whose second critic is a copy of the first, as when both are built from one object."""

    def train(self, gradient_steps: int, batch_size: int = 64) -> None:
        for critic in (self.critic, self.critic_target):
            critic.q_networks[1].load_state_dict(critic.q_networks[0].state_dict())
        super().train(gradient_steps, batch_size)


def from_step(at: int, value: float) -> Callable[[float, int, np.random.Generator], float]:
    """Return a change of reward: `value` from step `at` of the environment on."""
    return lambda reward, step, _: value if step >= at else reward


def sometimes(share: float, value: float) -> Callable[[float, int, np.random.Generator], float]:
    """Return a change of reward: `value` or its negative in a `share` of all steps."""
    return lambda reward, _, rng: value * rng.choice([-1.0, 1.0]) if rng.random() < share else reward


def nan_from(at: int) -> Callable[[Any, int], Any]:
    """Return a change of observation: its first entry is NaN from step `at` on."""

    def change(obs, step):
        if step >= at:
            obs = np.array(obs, copy=True)
            obs[0] = np.nan
        return obs

    return change
