"""Stable-Baselines3 trainers, guarded by the monitor's callback, with faults planted while they learn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from stable_baselines3 import DQN, PPO, SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.vec_env import DummyVecEnv
from worlds import IN_THE_WORLD, Truth, maker

from firstbreak.monitor.world import World

AFTER = 0.6
SMALL = {"net_arch": [64, 64]}
PPO_FAST = {"n_steps": 128, "batch_size": 128, "n_epochs": 4, "learning_rate": 1e-3}
SUBJECTS: dict[str, tuple[Any, dict[str, Any], str, int, int]] = {
    "sb3_ppo": (PPO, PPO_FAST, "CartPole-v1", 4, 60_000),
    "sb3_dqn": (
        DQN,
        {
            "learning_rate": 2.3e-3, "batch_size": 64, "learning_starts": 1000, "target_update_interval": 10,
            "train_freq": 256, "gradient_steps": 128, "exploration_fraction": 0.16, "exploration_final_eps": 0.04,
            "policy_kwargs": {"net_arch": [256, 256]},
        },
        "CartPole-v1", 1, 50_000,
    ),
    "sb3_sac": (
        SAC,
        {"learning_rate": 1e-3, "learning_starts": 500, "batch_size": 128, "policy_kwargs": SMALL},
        "Pendulum-v1", 1, 8_000,
    ),
}  # fmt: skip
"""Class, settings, environment, copies, environment steps: rl-zoo3's for CartPole, small ones for Pendulum."""


class Plant(BaseCallback):
    """Switches the fault on when its time has come."""

    def __init__(self, truth: Truth, fault: str, at: float) -> None:
        super().__init__()
        self.truth, self.fault, self.at = truth, fault, at

    def _on_step(self) -> bool:
        if math.isnan(self.truth.began) and self.num_timesteps >= self.at:
            self.truth.began = float(self.num_timesteps)
            if self.fault in IN_THE_WORLD:
                self.truth.fault = self.fault
            elif self.fault:
                plant(self.model, self.fault)
        return True


def train(subject: str, fault: str, seed: int, guard: Callable[[], BaseCallback], world: World, truth: Truth) -> None:
    """Train once; `truth` hears what really happened."""
    make, settings, name, copies, total = SUBJECTS[subject]
    factory = maker(name, truth, seed, world)
    env = DummyVecEnv([lambda: Statistics(factory())] * copies)
    model = make("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **settings)
    model.learn(total, callback=[guard(), Plant(truth, fault, AFTER * total)], log_interval=1)


def plant(model: Any, fault: str) -> None:
    changes: dict[str, Callable[[Any], None]] = {
        "learning-rate-x100": faster,
        "weights-noise": noise,
        "policy-overconfident": overconfident,
        "advantage-flipped": flip_advantages,
        "entropy-bonus": entropy_bonus,
        "epsilon-one": lambda m: setattr(m, "exploration_schedule", lambda _: 1.0),
        "rollout-stale": stale,
        "discount-above-one": discount,
        "critic-learning-rate-x1000": faster_critic,
        "epochs-x20": many_epochs,
    }
    changes[fault](model)


def faster(model: Any) -> None:
    rate = model.lr_schedule(1.0)
    model.lr_schedule = lambda _: 100 * rate


def faster_critic(model: Any) -> None:
    usual = model._update_learning_rate

    def update(optimisers: Any) -> None:
        usual(optimisers)
        for group in model.critic.optimizer.param_groups:
            group["lr"] *= 1000

    model._update_learning_rate = update


def weights_of(model: Any) -> list[torch.Tensor]:
    if isinstance(model, DQN):
        return list(model.q_net.parameters())
    if isinstance(model, SAC):
        return list(model.actor.parameters())
    policy = model.policy
    return [*policy.mlp_extractor.policy_net.parameters(), *policy.action_net.parameters()]


@torch.no_grad()
def noise(model: Any) -> None:
    for weight in weights_of(model):
        spread = float(weight.std()) if weight.numel() > 1 else 0.1
        weight.add_(2 * spread * torch.randn_like(weight))


@torch.no_grad()
def overconfident(model: Any) -> None:
    last = model.actor.mu if isinstance(model, SAC) else model.policy.action_net
    for weight in last.parameters():
        weight.mul_(100)


def flip_advantages(model: Any) -> None:
    buffer = model.rollout_buffer
    usual = buffer.compute_returns_and_advantage

    def flipped(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        buffer.advantages = -buffer.advantages

    buffer.compute_returns_and_advantage = flipped


def entropy_bonus(model: Any) -> None:
    if isinstance(model, SAC):
        model.ent_coef_optimizer = None
        model.ent_coef_tensor = torch.tensor(20.0)
        model.log_ent_coef = None
    else:
        model.ent_coef = 10.0  # the default is 0: a thousand times CleanRL's 0.01


def stale(model: Any) -> None:
    buffer = model.rollout_buffer
    usual = buffer.compute_returns_and_advantage
    names = ("observations", "actions", "values", "log_probs", "advantages", "returns")
    kept: dict[str, Any] = {}

    def compute(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        if not kept:
            kept.update({name: getattr(buffer, name).copy() for name in names})
        for name in names:
            setattr(buffer, name, kept[name].copy())

    buffer.compute_returns_and_advantage = compute


def discount(model: Any) -> None:
    model.gamma = 1.2
    if isinstance(model, PPO):
        model.rollout_buffer.gamma = 1.2


def many_epochs(model: Any) -> None:
    model.n_epochs *= 20
    model.clip_range = lambda _: 1e9
