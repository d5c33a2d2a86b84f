"""Stable-Baselines3 in the third live campaign: trainers, tasks, evaluations, and where faults are planted."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import third_worlds
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from third_sb3_plants import PLANTS
from worlds import Truth

from firstbreak.monitor.world import World

SMALL = {"net_arch": [64, 64]}
SUBJECTS: dict[str, tuple[Any, dict[str, Any], str, int, int, int]] = {
    "sb3_ppo_tank": (
        PPO,
        {"n_steps": 128, "batch_size": 128, "n_epochs": 8, "learning_rate": 1e-3, "gae_lambda": 0.9, "gamma": 0.97},
        "Tank", 4, 40_000, 20,
    ),
    "sb3_a2c_cartpole": (
        A2C,
        {"learning_rate": lambda left: 3e-3 * left, "n_steps": 32, "gae_lambda": 0.95, "normalize_advantage": True},
        "CartPole-v1", 8, 100_000, 20,
    ),
    "sb3_dqn_forage": (
        DQN,
        {
            "learning_rate": 1e-3, "batch_size": 64, "learning_starts": 500, "target_update_interval": 250,
            "train_freq": 2, "exploration_fraction": 0.3, "exploration_final_eps": 0.05, "gamma": 0.95,
            "policy_kwargs": SMALL,
        },
        "Forage", 1, 15_000, 100,
    ),
    "sb3_sac_tank": (
        SAC, {"learning_rate": 2e-3, "learning_starts": 300, "batch_size": 64, "policy_kwargs": SMALL, "gamma": 0.95},
        "Tank", 1, 4_000, 10,
    ),
    "sb3_td3_pendulum": (
        TD3,
        {
            "learning_rate": 2e-3, "learning_starts": 500, "batch_size": 128, "train_freq": 2, "gradient_steps": 2,
            "gamma": 0.95, "policy_kwargs": SMALL,
        },
        "Pendulum-v1", 1, 12_000, 5,
    ),
}  # fmt: skip
"""Class, settings, environment, copies, environment steps, episodes that a return is averaged over."""
NOISE = 0.1
"""Of TD3, in actions."""
EVALUATED = {"sb3_ppo_tank": 2_000, "sb3_dqn_forage": 1_000}
"""Environment steps between two evaluations, of five episodes each."""
EPISODES = 5


class Switch(BaseCallback):
    """Switches the fault on when its time has come, and keeps early weights for `checkpoint-old`."""

    def __init__(self, truth: Truth, fault: str, share: float, total: int) -> None:
        super().__init__()
        self.truth, self.fault, self.at, self.total = truth, fault, share * total, total
        self.evaluation: Any = None
        self.kept: Any = None

    def _on_step(self) -> bool:
        if self.kept is None and self.num_timesteps >= 0.1 * self.total:
            self.kept = deepcopy(self.model.policy.state_dict())
        if math.isnan(self.truth.began) and self.num_timesteps >= self.at:
            self.truth.began = float(self.num_timesteps)
            if self.fault in third_worlds.FAULTS:
                self.truth.fault = self.fault
            elif self.fault:
                PLANTS[self.fault](self)
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
    factory = third_worlds.maker(name, truth, total, world)
    env: Any = DummyVecEnv([lambda: Statistics(factory())] * copies)
    if make is PPO:
        env = VecNormalize(env, gamma=settings["gamma"])
    if make is TD3:
        width = env.action_space.shape[0]
        settings["action_noise"] = NormalActionNoise(np.zeros(width), np.full(width, NOISE))
    model = make("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **settings)
    if subject not in EVALUATED:
        return model, None
    apart = third_worlds.maker(name, Truth(), total, None)
    other: Any = DummyVecEnv([lambda: Statistics(apart())])
    if make is PPO:
        other = VecNormalize(other, training=False, norm_reward=False)
    other.seed(1000 + seed)
    return model, EvalCallback(other, n_eval_episodes=EPISODES, eval_freq=EVALUATED[subject] // copies, verbose=0)
