"""The reference trainers, guarded through their own `log`, with faults planted while they learn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from worlds import IN_THE_WORLD, Truth, maker

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

DQN_FAST = DQNConfig(learning_rate=1e-3, train_frequency=2, batch_size=64, target_interval=250, learning_starts=500)
SAC_FAST = SACConfig(hidden_sizes=(64, 64), batch_size=128, log_every_steps=100, alpha_initial=0.2, learning_starts=500)
SUBJECTS: dict[str, tuple[Any, Any, str, str, int]] = {
    "ppo": (PPO, PPOConfig(learning_rate=1e-3), "PPO", "CartPole-v1", 60_000),
    "dqn": (DQN, DQN_FAST, "DQN", "CartPole-v1", 20_000),
    "sac": (SAC, SAC_FAST, "SAC", "Pendulum-v1", 8_000),
    "mmrkhs": (MMRKHS, MMRKHSConfig(), "MM-RKHS", "CartPole-v1", 60_000),
}
"""Class, settings, algorithm, environment, environment steps. Small settings that learn within a minute or two."""
AFTER = 0.6
"""Share of the run after which the fault is switched on."""


def settings_of(subject: str) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and its settings, as a user would hand them to the monitor."""
    _, config, algorithm, _, _ = SUBJECTS[subject]
    return algorithm, {key: value for key, value in vars(config).items() if isinstance(value, (int, float, str))}


def train(subject: str, fault: str, seed: int, monitor: Monitor, world: World, truth: Truth) -> None:
    """Train once; `truth` hears what really happened."""
    make, config, _, name, total = SUBJECTS[subject]
    trainer = make(maker(name, truth, seed, world), seed=seed, config=config)
    log = log_to(monitor, trainer)

    def on_row(metrics: Mapping[str, Any], step: int) -> None:
        log(metrics, step)
        if math.isnan(truth.began) and step >= AFTER * total:
            truth.began = float(step)
            if fault in IN_THE_WORLD:
                truth.fault = fault
            elif fault:
                plant(trainer, fault)

    trainer.learn(total, on_row)


def policy_of(trainer: Any) -> Any:
    return trainer.q_network if isinstance(trainer, DQN) else trainer.actor


def optimisers(trainer: Any) -> list[Any]:
    return [value for value in vars(trainer).values() if isinstance(value, torch.optim.Optimizer)]


def plant(trainer: Any, fault: str) -> None:
    """Plant `fault` in a trainer that is between two updates."""
    changes = {
        "learning-rate-x100": faster,
        "weights-noise": noise,
        "weights-nan": spoil,
        "policy-overconfident": overconfident,
        "advantage-flipped": flip_advantages,
        "entropy-bonus": entropy_bonus,
        "epsilon-one": lambda t: setattr(t, "config", replace(t.config, epsilon_start=1.0, epsilon_end=1.0)),
        "rollout-stale": stale,
        "discount-above-one": lambda t: setattr(t, "config", replace(t.config, gamma=1.2)),
        "critic-learning-rate-x1000": faster_critic,
        "epochs-x20": lambda t: setattr(
            t, "config", replace(t.config, update_epochs=20 * t.config.update_epochs, clip_range=1e9)
        ),
    }
    changes[fault](trainer)


def faster(trainer: Any) -> None:
    for optimiser in optimisers(trainer):
        for group in optimiser.param_groups:
            group["lr"] *= 100
    if isinstance(trainer, PPO):  # its schedule sets the rate anew at every update
        trainer.config = replace(trainer.config, learning_rate=100 * trainer.config.learning_rate)


def faster_critic(trainer: Any) -> None:
    critics = trainer.critics if isinstance(trainer, SAC) else [trainer.critic]
    held = {id(weight) for critic in critics for weight in critic.parameters()}
    for optimiser in optimisers(trainer):
        for group in optimiser.param_groups:
            if any(id(weight) in held for weight in group["params"]):
                group["lr"] *= 1000


@torch.no_grad()
def noise(trainer: Any) -> None:
    for weight in policy_of(trainer).parameters():
        spread = float(weight.std()) if weight.numel() > 1 else 0.1
        weight.add_(2 * spread * torch.randn_like(weight))


@torch.no_grad()
def spoil(trainer: Any) -> None:
    weight = next(iter(policy_of(trainer).parameters()))
    weight.view(-1)[0] = math.nan


@torch.no_grad()
def overconfident(trainer: Any) -> None:
    layers = [m for m in policy_of(trainer).modules() if isinstance(m, torch.nn.Linear)]
    for weight in layers[-1].parameters():
        weight.mul_(100)


def flip_advantages(trainer: Any) -> None:
    usual = trainer.advantages

    def flipped(rollout: Any) -> Any:
        found = usual(rollout)
        found["advantage"] = -found["advantage"]
        return found

    trainer.advantages = flipped


def entropy_bonus(trainer: Any) -> None:
    if isinstance(trainer, SAC):
        with torch.no_grad():
            trainer.log_alpha.fill_(math.log(20.0))
        for group in trainer.alpha_optimiser.param_groups:
            group["lr"] = 0.0
    else:
        trainer.config = replace(trainer.config, entropy_coef=1000 * trainer.config.entropy_coef)


def stale(trainer: Any) -> None:
    usual = trainer.collect
    kept: list[Any] = []

    def collect() -> Any:
        fresh = usual()  # the environment goes on and its returns are true; the trainer is given the old rollout
        if not kept:
            kept.append(fresh.clone())
        return kept[0].clone()

    trainer.collect = collect
