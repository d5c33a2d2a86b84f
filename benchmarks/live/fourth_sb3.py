"""Stable-Baselines3 in the fourth live campaign: trainers, tasks, evaluations; its faults are switched on as before."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import fourth_worlds
import numpy as np
import third_sb3
from fourth_sb3_plants import PLANTS
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv
from worlds import Truth

from firstbreak.monitor.world import World

SMALL = {"net_arch": [64, 64]}
SUBJECTS: dict[str, tuple[Any, dict[str, Any], str, int, int, int]] = {
    "sb3_ppo_lanes": (
        PPO,
        {"n_steps": 64, "batch_size": 128, "n_epochs": 6, "learning_rate": 1e-3, "gae_lambda": 0.9, "gamma": 0.95},
        "Lanes", 8, 50_000, 20,
    ),
    "sb3_a2c_stock": (
        A2C, {"learning_rate": 1e-3, "n_steps": 16, "gae_lambda": 0.9, "gamma": 0.9, "normalize_advantage": True},
        "Stock", 8, 60_000, 20,
    ),
    "sb3_dqn_lanes": (
        DQN,
        {
            "learning_rate": 1e-3, "batch_size": 64, "learning_starts": 500, "target_update_interval": 250,
            "train_freq": 2, "exploration_fraction": 0.15, "exploration_final_eps": 0.02, "gamma": 0.9,
            "policy_kwargs": SMALL,
        },
        "Lanes", 1, 18_000, 20,
    ),
    "sb3_sac_crane": (
        SAC, {"learning_rate": 2e-3, "learning_starts": 300, "batch_size": 64, "policy_kwargs": SMALL, "gamma": 0.9},
        "Crane", 1, 4_000, 10,
    ),
    "sb3_td3_crane": (
        TD3, {"learning_rate": 1e-3, "learning_starts": 500, "batch_size": 64, "policy_kwargs": SMALL, "gamma": 0.9},
        "Crane", 1, 6_000, 10,
    ),
}  # fmt: skip
"""Class, settings, environment, copies, environment steps, episodes that a return is averaged over."""
NOISE = 0.1
"""Of TD3, in actions."""
EVALUATED = {"sb3_ppo_lanes": 2_000, "sb3_dqn_lanes": 1_000}
"""Environment steps between two evaluations, of five episodes each."""
EPISODES = 5


class Switch(third_sb3.Switch):
    """Sees the instant, and keeps early weights, as in the third list; switches a fault of this one on."""

    def __init__(self, truth: Truth, fault: str, share: float, total: int) -> None:
        super().__init__(truth, "", share, total)
        self.planted = fault

    def _on_step(self) -> bool:
        waiting = math.isnan(self.truth.began)
        super()._on_step()
        if waiting and not math.isnan(self.truth.began):
            if self.planted in fourth_worlds.FAULTS:
                self.truth.fault = self.planted
            elif self.planted:
                PLANTS[self.planted](self)
        return True


def train(
    subject: str, fault: str, seed: int, share: float, guard: Callable[[], BaseCallback], world: World, truth: Truth
) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    total = SUBJECTS[subject][4]
    model, evaluation = built(subject, seed, world, truth)
    switch = Switch(truth, fault, share, total)
    switch.evaluation = evaluation
    model.learn(total, callback=[*([evaluation] if evaluation else []), guard(), switch], log_interval=1)


def built(subject: str, seed: int, world: World | None, truth: Truth) -> tuple[Any, EvalCallback | None]:
    """Return a trainer of `subject`, and what evaluates it."""
    make, settings, name, copies, total, _ = SUBJECTS[subject]
    settings = deepcopy(settings)  # SAC writes into its `policy_kwargs`.
    factory = fourth_worlds.maker(name, truth, total, world)
    env = DummyVecEnv([lambda: Statistics(factory())] * copies)
    if make is TD3:
        width = env.action_space.shape[0]
        settings["action_noise"] = NormalActionNoise(np.zeros(width), np.full(width, NOISE))
    model = make("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **settings)
    if subject not in EVALUATED:
        return model, None
    apart = fourth_worlds.maker(name, Truth(), total, None)
    other = DummyVecEnv([lambda: Statistics(apart())])
    other.seed(1000 + seed)
    return model, EvalCallback(other, n_eval_episodes=EPISODES, eval_freq=EVALUATED[subject] // copies, verbose=0)
