"""Faults of the reference trainers that several of them share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from benchmarks.faults.planting import in_trainer
from firstbreak.trainers.ppo import PPO
from firstbreak.trainers.sac import SAC

EVERY = 10


def optimisers_of(trainer: Any) -> list[Any]:
    """Every optimiser of a trainer."""
    return [value for value in vars(trainer).values() if isinstance(value, torch.optim.Optimizer)]


def policy_of(trainer: Any) -> Any:
    """The network that chooses actions."""
    return trainer.q_network if hasattr(trainer, "q_network") else trainer.actor


def changed(trainer: Any, **settings: Any) -> None:
    """Change settings of a trainer that runs."""
    trainer.config = replace(trainer.config, **settings)


def before_each(trainer: Any, method: str, first: Callable[[], None]) -> None:
    """Call `first()` before every call of a method."""
    usual = getattr(trainer, method)

    def call(*args: Any, **kwargs: Any) -> Any:
        first()
        return usual(*args, **kwargs)

    setattr(trainer, method, call)


def faster(trainer: Any, times: float) -> None:
    """Multiply every learning rate."""
    for optimiser in optimisers_of(trainer):
        for group in optimiser.param_groups:
            group["lr"] *= times
    if isinstance(trainer, PPO):  # its schedule sets the rate anew at every update
        changed(trainer, learning_rate=times * trainer.config.learning_rate)


@in_trainer("learning-rate-x30", "ppo", "mmrkhs")
def learning_rate_x30(trainer: Any) -> None:
    faster(trainer, 30)


@in_trainer("weights-noise", "ppo", "dqn", "sac")
def weights_noise(trainer: Any) -> None:
    disturb(trainer, list(policy_of(trainer).parameters()), 3.0)


@in_trainer("critic-noise", "ppo")
def critic_noise(trainer: Any) -> None:
    disturb(trainer, list(trainer.critic.parameters()), 5.0)


def disturb(trainer: Any, weights: list[torch.Tensor], size: float) -> None:
    """Add noise of `size` times their own spread to the weights at every tenth update.

    DQN and SAC make an update a step; there the tenth is of fifty updates.
    """
    chance, count = torch.Generator().manual_seed(0), [0]
    on_policy = hasattr(trainer, "update")
    every = EVERY if on_policy else 50 * EVERY

    @torch.no_grad()
    def shake() -> None:
        count[0] += 1
        for weight in weights if count[0] % every == 0 else ():
            spread = float(weight.std()) if weight.numel() > 1 else 0.1
            weight.add_(size * spread * torch.randn(weight.shape, generator=chance))

    before_each(trainer, "update" if on_policy else "step", shake)


@in_trainer("weights-nan", "ppo", "dqn", "mmrkhs")
@torch.no_grad()
def weights_nan(trainer: Any) -> None:
    weight = next(iter(policy_of(trainer).parameters()))
    weight.view(-1)[0] = math.nan


@in_trainer("policy-overconfident", "ppo", "mmrkhs", "sac")
@torch.no_grad()
def policy_overconfident(trainer: Any) -> None:
    layers = [m for m in policy_of(trainer).modules() if isinstance(m, torch.nn.Linear)]
    for weight in layers[-1].parameters():
        weight.mul_(100)


@in_trainer("policy-frozen", "ppo", "sac")
def policy_frozen(trainer: Any) -> None:
    if isinstance(trainer, SAC):  # its actor loss would have nothing to go backward through
        trainer.actor_optimiser.step = lambda *args, **kwargs: None
    else:
        for weight in trainer.actor.parameters():
            weight.requires_grad_(False)


@in_trainer("discount-above-one", "ppo", "dqn", "sac")
def discount_above_one(trainer: Any) -> None:
    changed(trainer, gamma=1.2)


@in_trainer("discount-short", "ppo", "sac")
def discount_short(trainer: Any) -> None:
    changed(trainer, gamma=0.3)


@in_trainer("gradient-clipped-away", "ppo")
def gradient_clipped_away(trainer: Any) -> None:
    changed(trainer, max_grad_norm=1e-7)


@in_trainer("entropy-bonus", "ppo")
def entropy_bonus(trainer: Any) -> None:
    changed(trainer, entropy_coef=10.0)


@in_trainer("entropy-bonus", "sac")
def temperature_held(trainer: Any) -> None:
    held_temperature(trainer, 20.0)


@in_trainer("alpha-zero", "sac")
@torch.no_grad()
def alpha_zero(trainer: Any) -> None:
    held_temperature(trainer, 1e-12)
    last = [m for m in trainer.actor.modules() if isinstance(m, torch.nn.Linear)][-1]
    last.bias[len(last.bias) // 2 :].fill_(-4.0)  # its second half is the log of the spread


@torch.no_grad()
def held_temperature(trainer: Any, value: float) -> None:
    """Hold the temperature of SAC."""
    trainer.log_alpha.fill_(math.log(value))
    for group in trainer.alpha_optimiser.param_groups:
        group["lr"] = 0.0


@in_trainer("target-entropy-flipped", "sac")
def target_entropy_flipped(trainer: Any) -> None:
    trainer.target_entropy = -5 * (trainer.target_entropy or -1.0)
