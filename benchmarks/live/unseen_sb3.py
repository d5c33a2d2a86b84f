"""Stable-Baselines3 in the second live campaign: trainers, tasks, and the faults planted in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
import unseen_worlds
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.vec_env import DummyVecEnv
from worlds import Truth

from firstbreak.monitor.world import World

SMALL = {"net_arch": [64, 64]}
SUBJECTS: dict[str, tuple[Any, dict[str, Any], str, int, int, int]] = {
    "sb3_ppo_acrobot": (
        PPO,
        {"n_steps": 256, "batch_size": 256, "n_epochs": 10, "learning_rate": 1e-3, "gae_lambda": 0.94},
        "Acrobot-v1", 4, 80_000, 20,
    ),
    "sb3_a2c_catch": (A2C, {"ent_coef": 0.01}, "Catch", 8, 60_000, 100),
    "sb3_dqn_acrobot": (
        DQN,
        {
            "learning_rate": 1e-3, "batch_size": 128, "learning_starts": 1000, "target_update_interval": 250,
            "train_freq": 4, "gradient_steps": 2, "exploration_fraction": 0.2, "exploration_final_eps": 0.05,
            "policy_kwargs": SMALL,
        },
        "Acrobot-v1", 1, 30_000, 10,
    ),
    "sb3_sac_reach": (
        SAC, {"learning_rate": 1e-3, "learning_starts": 500, "batch_size": 128, "policy_kwargs": SMALL},
        "Reach", 1, 5_000, 10,
    ),
    "sb3_td3_inverted": (
        TD3, {"learning_rate": 1e-3, "learning_starts": 500, "batch_size": 128, "policy_kwargs": SMALL},
        "InvertedPendulum-v5", 1, 8_000, 5,
    ),
}  # fmt: skip
"""Class, settings, environment, copies, environment steps, episodes that a return is averaged over."""


class Plant(BaseCallback):
    """Switches the fault on when its time has come."""

    def __init__(self, truth: Truth, fault: str, at: float) -> None:
        super().__init__()
        self.truth, self.fault, self.at = truth, fault, at

    def _on_step(self) -> bool:
        if math.isnan(self.truth.began) and self.num_timesteps >= self.at:
            self.truth.began = float(self.num_timesteps)
            if self.fault in unseen_worlds.FAULTS:
                self.truth.fault = self.fault
            elif self.fault:
                PLANTS[self.fault](self.model)
        return True


def train(
    subject: str, fault: str, seed: int, share: float, guard: Callable[[], BaseCallback], world: World, truth: Truth
) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    make, settings, name, copies, total, _ = SUBJECTS[subject]
    factory = unseen_worlds.maker(name, truth, seed, world)
    env = DummyVecEnv([lambda: Statistics(factory())] * copies)
    # Copied: SAC writes into its `policy_kwargs`.
    model = make("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **deepcopy(settings))
    model.learn(total, callback=[guard(), Plant(truth, fault, share * total)], log_interval=1)


def aliased(model: Any) -> None:
    usual = model.replay_buffer.add
    model.replay_buffer.add = lambda obs, next_obs, *rest, **named: usual(next_obs, next_obs, *rest, **named)


def loss_flipped(model: Any) -> None:
    usual = model.policy.evaluate_actions

    def evaluate(obs: Any, actions: Any) -> Any:
        values, log_prob, entropy = usual(obs, actions)
        return values, -log_prob, entropy

    model.policy.evaluate_actions = evaluate


def backwards(model: Any) -> None:
    buffer = model.rollout_buffer
    usual = buffer.compute_returns_and_advantage

    def compute(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        buffer.advantages, buffer.returns = buffer.advantages[::-1].copy(), buffer.returns[::-1].copy()

    buffer.compute_returns_and_advantage = compute


def discount_low(model: Any) -> None:
    model.gamma = 0.1
    if isinstance(model, PPO):
        model.rollout_buffer.gamma = 0.1


@torch.no_grad()
def critic_dead(model: Any) -> None:
    for network in model.critic.q_networks:
        next(m for m in network.modules() if isinstance(m, torch.nn.Linear)).bias.fill_(-10.0)


def epsilon_grows(model: Any) -> None:
    low, left = float(model.exploration_rate), float(model._current_progress_remaining)
    model.exploration_schedule = lambda remaining: low + (1 - low) * (1 - remaining / left)


def target_entropy_sign(model: Any) -> None:
    model.target_entropy = -model.target_entropy


PLANTS: dict[str, Callable[[Any], None]] = {
    "observations-aliased": aliased,
    "loss-flipped": loss_flipped,
    "returns-backwards": backwards,
    "discount-low": discount_low,
    "critic-dead": critic_dead,
    "epsilon-grows": epsilon_grows,
    "target-entropy-sign": target_entropy_sign,
}
