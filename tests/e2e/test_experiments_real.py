"""Experiments on Stable-Baselines3 and the reference trainers, in child processes."""

from __future__ import annotations

from typing import Any

import pytest

from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.running.executor import Local

pytestmark = pytest.mark.full
BANDIT, BY_STATE = "firstbreak/BanditAction-v0", "firstbreak/ActionByState-v0"

CASES: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("zero-learning-rate", "sb3:PPO", "CartPole-v1", "refuted", {}),
    ("untrained-start", "sb3:PPO", BANDIT, "refuted", {"steps": 2048}),
    ("untrained-start", "sb3:PPO", BANDIT, "confirmed", {"steps": 2048, "settings": {"learning_rate": 0.0}}),
    ("reversed-reward", "sb3:PPO", BANDIT, "inconclusive", {"steps": 2048, "settings": {"learning_rate": 0.0}}),
    ("reversed-reward", "sb3:PPO", "CartPole-v1", "refuted", {"steps": 6144, "given": {"expect": "490"}}),
    ("constant-reward", "firstbreak.trainers.small:ppo", BY_STATE, "refuted", {"steps": 2048}),
    ("resume", "sb3:PPO", BANDIT, "refuted", {"steps": 2048}),
    ("critic-only-fit", "sb3:PPO", "CartPole-v1", "refuted", {}),
    ("critic-only-fit", "firstbreak.trainers.small:dqn", "CartPole-v1", "refuted", {}),
    ("overfit-one-batch", "sb3:PPO", "CartPole-v1", "refuted", {}),
    ("overfit-one-batch", "sb3:PPO", "CartPole-v1", "confirmed", {"settings": {"learning_rate": 0.0}}),
]


@pytest.mark.parametrize(("name", "trainer", "env", "wanted", "how"), CASES, ids=lambda v: str(v)[:40])
def test_the_verdict_on_a_real_library(name: str, trainer: str, env: str, wanted: str, how: dict[str, Any]) -> None:
    subject = Subject(trainer, env, how.get("steps"), how.get("settings", {}), how.get("given", {}))
    result = run_experiment(name, subject, Protocol(), executor=Local(2))
    assert result.outcome.value == wanted, result.words
    assert not result.troubles
