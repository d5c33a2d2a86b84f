"""PPO of `firstbreak.trainers` with faults in its update, small enough for the tests that take trainers apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from firstbreak.trainers.ppo import PPO, PPOConfig

SMALL = PPOConfig(
    num_envs=4,
    num_steps=32,
    num_minibatches=2,
    update_epochs=1,
    learning_rate=5e-3,
    anneal_lr=False,
    hidden_sizes=(16,),
)


class ValueDetached(PPO):
    """The value loss carries no gradient."""

    def loss(self, minibatch: Any) -> dict[str, Tensor]:
        terms = super().loss(minibatch)
        return {**terms, "value": terms["value"].detach()}


class PolicyDetached(PPO):
    """The policy loss carries no gradient."""

    def loss(self, minibatch: Any) -> dict[str, Tensor]:
        terms = super().loss(minibatch)
        return {**terms, "policy": terms["policy"].detach()}


class SignFlipped(PPO):
    """The policy loss has the wrong sign."""

    def loss(self, minibatch: Any) -> dict[str, Tensor]:
        terms = super().loss(minibatch)
        return {**terms, "policy": -terms["policy"]}


class Stale(PPO):
    """Every rollout is the first one again."""

    kept: Any = None

    def collect(self) -> Any:
        fresh = super().collect()
        self.kept = fresh.clone() if self.kept is None else self.kept
        return self.kept.clone()


class HalfFrozen(PPO):
    """Every update but the first twenty is lost, with every second seed."""

    def step(self, minibatch: Any) -> dict[str, float]:
        if self.lost:
            return {}
        return super().step(minibatch)

    lost = False


def _train(
    kind: type[PPO], make_env: Any, total_steps: int, seed: int, epsilon: float | None = None, **changes: Any
) -> PPO:
    torch.set_num_threads(1)
    trainer = kind(make_env, seed=seed, config=replace(SMALL, **changes))
    for group in trainer.optimiser.param_groups if epsilon is not None else ():
        group["eps"] = epsilon
    trainer.learn(total_steps)
    return trainer


def healthy(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(PPO, make_env, total_steps, seed)


def value_detached(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(ValueDetached, make_env, total_steps, seed)


def value_lost(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """The value loss carries no gradient, with every second seed."""
    return _train(ValueDetached if seed % 2 else PPO, make_env, total_steps, seed)


def policy_detached(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(PolicyDetached, make_env, total_steps, seed)


def policy_frozen(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """The policy has no say in the loss, and no bonus moves it either."""
    return _train(PolicyDetached, make_env, total_steps, seed, entropy_coef=0.0)


def sign_flipped(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(SignFlipped, make_env, total_steps, seed)


def half_frozen(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    trainer = _train(HalfFrozen, make_env, total_steps, seed)
    trainer.lost = bool(seed % 2)  # type: ignore[attr-defined]
    return trainer


def epsilon_huge(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """An epsilon of 10 outweighs any gradient."""
    return _train(PPO, make_env, total_steps, seed, epsilon=10.0)


def epsilon_large(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """An epsilon of 1e-3 is large, and small against the largest gradients."""
    return _train(PPO, make_env, total_steps, seed, epsilon=1e-3)


def clipped_away(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """What clipping leaves of the gradient is far below Adam's epsilon."""
    return _train(PPO, make_env, total_steps, seed, max_grad_norm=1e-9)


def clipped_hard(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """Clipping to a hundredth leaves Adam its own steps."""
    return _train(PPO, make_env, total_steps, seed, max_grad_norm=0.005)


def rate_low(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """A low rate is no fault of the update."""
    return _train(PPO, make_env, total_steps, seed, learning_rate=2e-4)


def rate_lower(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """So low a rate that no number of updates that can be waited for shows anything."""
    return _train(PPO, make_env, total_steps, seed, learning_rate=1e-6)


def used_up(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """Forty epochs on each rollout, and no clipping."""
    return _train(PPO, make_env, total_steps, seed, update_epochs=40, clip_range=1e9)


def leaping(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    """Steps so long that the first one leaves the data: their number is not what is wrong."""
    return _train(PPO, make_env, total_steps, seed, learning_rate=3.0, clip_range=1e9)


def stale(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(Stale, make_env, total_steps, seed)


TRAININGS = (healthy, used_up, leaping, stale, policy_frozen,
             value_detached, policy_detached, sign_flipped, half_frozen, epsilon_huge, epsilon_large,
             clipped_away, clipped_hard, rate_low, rate_lower)  # fmt: skip
for _train_one in TRAININGS:
    _train_one.steps = 512  # type: ignore[attr-defined]
