"""What PPO and MM-RKHS say of their own advantages and of what an update does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.ppo_measures import advantage_follow, advantage_residual

from .worlds import Counter

torch.set_num_threads(1)


def trainer_of(name: str) -> Any:
    if name == "ppo":
        return PPO(Counter, config=PPOConfig(num_envs=2, num_steps=24, hidden_sizes=(16,)))
    return MMRKHS(Counter, config=MMRKHSConfig(num_envs=2, rollout_steps=24, hidden_sizes=(16,)))


@pytest.mark.parametrize("name", ["ppo", "mmrkhs"])
def test_advantages_of_a_rollout_are_those_of_its_rewards_and_values_until_they_are_moved(name: str) -> None:
    trainer = trainer_of(name)
    rollout = trainer.advantages(trainer.collect())
    config = trainer.config
    found = advantage_residual(rollout, config.gamma, config.gae_lambda)
    assert found["advantage/gae_residual"] < 1e-5
    rollout["advantage"] = rollout["advantage"].flip(1)
    assert advantage_residual(rollout, config.gamma, config.gae_lambda)["advantage/gae_residual"] > 0.01


@pytest.mark.parametrize("name", ["ppo", "mmrkhs"])
def test_an_update_says_whether_better_actions_became_likelier(name: str) -> None:
    trainer = trainer_of(name)
    rollout = trainer.collect()
    row = trainer.update(rollout)
    with torch.no_grad():
        change = (trainer.log_prob(rollout) - rollout["log_prob"]).flatten().double().numpy()
    gains = rollout["advantage"].flatten().double().numpy()
    gains = gains - gains.mean()  # both trainers normalise
    wanted = gains @ change / np.sqrt((gains @ gains) * (change @ change))
    assert row["policy/advantage_follow"] == pytest.approx(wanted, abs=1e-4)
    assert row["policy/advantage_follow"] > 0
    assert row["advantage/gae_residual"] < 1e-5
    usual = trainer.loss
    trainer.loss = lambda rows: {term: -x if term == "policy" else x for term, x in usual(rows).items()}
    assert trainer.update(trainer.collect())["policy/advantage_follow"] < 0


def test_nothing_is_said_where_nothing_varies() -> None:
    assert advantage_follow(torch.zeros(8), torch.randn(8)) == {}
    assert advantage_follow(torch.randn(8), torch.zeros(8)) == {}
