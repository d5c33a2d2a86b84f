"""Tiny environments and models, so that real training takes a fraction of a second."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3

torch.set_num_threads(1)


def small():
    """Settings of every model; a new dictionary each time, since SAC writes into its `policy_kwargs`."""
    return {"policy_kwargs": {"net_arch": [8]}, "seed": 0, "device": "cpu"}


class Line(gym.Env):
    """Walk on a line for 9 steps; the reward is minus the distance, or NaN from step `nan_from` on, counted overall."""

    def __init__(self, discrete=True, nan_from=10**9, pieces=False):
        self.action_space = spaces.Discrete(3) if discrete else spaces.Box(-2.0, 2.0, (2,), np.float32)
        box = spaces.Box(-10, 10, (2,), np.float32)
        self.observation_space = spaces.Dict({"at": box}) if pieces else box
        self.nan_from, self.count, self.pieces = nan_from, 0, pieces

    def _obs(self):
        at = np.array([self.x, self.t / 9], np.float32)
        return {"at": at} if self.pieces else at

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.t = float(self.np_random.uniform(-1, 1)), 0
        return self._obs(), {}

    def step(self, action):
        move = float(action) - 1 if np.ndim(action) == 0 else float(np.mean(action))
        self.x = float(np.clip(self.x + 0.3 * move, -9, 9))
        self.t, self.count = self.t + 1, self.count + 1
        reward = float("nan") if self.count >= self.nan_from else -abs(self.x)
        return self._obs(), reward, False, self.t >= 9, {"is_success": abs(self.x) < 0.5}


def ppo(env=None, policy="MlpPolicy", **more):
    return PPO(policy, env or Line(), **{"n_steps": 32, "batch_size": 16, "n_epochs": 3, **small(), **more})


def a2c(env=None, **more):
    return A2C("MlpPolicy", env or Line(discrete=False), **{**small(), **more})


def dqn(env=None, **more):
    return DQN("MlpPolicy", env or Line(), **{"learning_starts": 20, "batch_size": 8, **small(), **more})


def sac(env=None, **more):
    return SAC("MlpPolicy", env or Line(discrete=False), **{"learning_starts": 20, "batch_size": 8, **small(), **more})


def td3(env=None, **more):
    return TD3("MlpPolicy", env or Line(discrete=False), **{"learning_starts": 20, "batch_size": 8, **small(), **more})


def same(left, right):
    """Whether two models have the same weights and optimiser states, bit for bit."""
    one, two = left.get_parameters(), right.get_parameters()
    return one.keys() == two.keys() and all(_same(one[key], two[key]) for key in one)


def _same(left, right):
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    return torch.equal(left, right) if isinstance(left, torch.Tensor) else left == right
