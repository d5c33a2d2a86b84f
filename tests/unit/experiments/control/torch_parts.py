"""PPO of `firstbreak.trainers` with faults in its update, small enough for the tests that take trainers apart."""

from __future__ import annotations

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


class HalfFrozen(PPO):
    """Every update but the first twenty is lost, with every second seed."""

    def step(self, minibatch: Any) -> dict[str, float]:
        if self.lost:
            return {}
        return super().step(minibatch)

    lost = False


def _train(kind: type[PPO], make_env: Any, total_steps: int, seed: int) -> PPO:
    torch.set_num_threads(1)
    trainer = kind(make_env, seed=seed, config=SMALL)
    trainer.learn(total_steps)
    return trainer


def healthy(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(PPO, make_env, total_steps, seed)


def value_detached(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(ValueDetached, make_env, total_steps, seed)


def policy_detached(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(PolicyDetached, make_env, total_steps, seed)


def sign_flipped(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    return _train(SignFlipped, make_env, total_steps, seed)


def half_frozen(make_env: Any, *, total_steps: int, seed: int) -> PPO:
    trainer = _train(HalfFrozen, make_env, total_steps, seed)
    trainer.lost = bool(seed % 2)  # type: ignore[attr-defined]
    return trainer


for _train_one in (healthy, value_detached, policy_detached, sign_flipped, half_frozen):
    _train_one.steps = 512  # type: ignore[attr-defined]
