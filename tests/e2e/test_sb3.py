"""Stable-Baselines3 for real: an injected fault is named at its link, the unbroken twin stays quiet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure

from firstbreak.api import diagnose_runs
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.finding import Severity

pytestmark = pytest.mark.full
torch.set_num_threads(1)


class Scaled(gym.RewardWrapper):
    """Multiplies the reward: the classic wrapper that nobody remembers."""

    def __init__(self, env: gym.Env, factor: float) -> None:
        super().__init__(env)
        self.factor = factor

    def reward(self, reward: Any) -> float:
        return float(reward) * self.factor


class Flat(gym.RewardWrapper):
    """Pays the same reward whatever happens, in episodes of one length."""

    def reward(self, reward: Any) -> float:
        return 0.0


def flat_cartpole() -> gym.Env:
    """CartPole that pays nothing, the Monitor outside: what is logged is what is learned from."""
    return Flat(gym.make("CartPole-v1"))


def train(
    folder: Path, algorithm: Callable[..., Any], env: Any, steps: int, wrapper: Any = None, **kwargs: Any
) -> Diagnosis:
    vec = make_vec_env(env, n_envs=1, seed=0, monitor_dir=str(folder), wrapper_class=wrapper)
    model = algorithm("MlpPolicy", vec, seed=0, device="cpu", **kwargs)
    model.set_logger(configure(str(folder), ["csv"]))
    model.learn(steps)
    model.logger.close()
    vec.close()
    (diagnosis,) = diagnose_runs(folder, Settings())
    return diagnosis


def loud(diagnosis: Diagnosis) -> list[str]:
    return [f.message for f in diagnosis.findings if f.severity is not Severity.INFO]


@pytest.mark.parametrize(
    ("algorithm", "env", "steps"),
    [
        (PPO, "CartPole-v1", 20_000),
        (A2C, "CartPole-v1", 20_000),
        (DQN, "CartPole-v1", 20_000),
        (SAC, "Pendulum-v1", 2_000),
    ],
    ids=["PPO", "A2C", "DQN", "SAC"],
)
def test_the_unbroken_twin_is_quiet(tmp_path: Path, algorithm: Any, env: str, steps: int) -> None:
    diagnosis = train(tmp_path, algorithm, env, steps)
    assert diagnosis.log.framework == "stable_baselines3"
    assert diagnosis.log.algorithm == algorithm.__name__
    assert not loud(diagnosis)
    assert diagnosis.verdict is not Verdict.BROKEN


def test_a_huge_learning_rate_breaks_the_policy_update(tmp_path: Path) -> None:
    diagnosis = train(tmp_path, PPO, "CartPole-v1", 12_000, learning_rate=0.1)
    assert diagnosis.first_break is not None
    assert diagnosis.first_break.link == "policy_update"


def test_a_reward_scaled_by_a_thousand_breaks_the_reward_signal(tmp_path: Path) -> None:
    diagnosis = train(tmp_path, SAC, "Pendulum-v1", 5_200, wrapper=lambda e: Scaled(e, 1000.0))
    assert "reward_signal" in [c.link for c in diagnosis.causes[:2]]


def test_a_constant_reward_is_named(tmp_path: Path) -> None:
    diagnosis = train(tmp_path, PPO, flat_cartpole, 12_000, n_steps=256)
    assert diagnosis.causes
    assert diagnosis.causes[0].link in ("reward_signal", "environment_data")
