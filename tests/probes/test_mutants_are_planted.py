"""Every mutant of the list exists, runs to its end on a tiny environment, and does not do what the original does."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from firstbreak.target import load_target
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

from .planting import trainer_of

LIST = Path(__file__).with_name("mutants.toml")
MUTANTS = tomllib.loads(LIST.read_text("utf-8"))["mutant"]
REFERENCE = ("ppo", "sac", "dqn", "mmrkhs")
SMALL = (8, 8)
REPLAY: dict[str, Any] = {"num_envs": 10, "buffer_size": 100, "batch_size": 16, "log_every_steps": 10}
CONFIGS: dict[str, Any] = {
    "ppo": PPOConfig(
        num_envs=10, num_steps=10, num_minibatches=2, update_epochs=2, learning_rate=0.05, hidden_sizes=SMALL
    ),
    "mmrkhs": MMRKHSConfig(num_envs=10, rollout_steps=10, minibatch_size=50, epochs=2, hidden_sizes=SMALL),
    "dqn": DQNConfig(**REPLAY, target_interval=5, train_frequency=10, hidden_sizes=SMALL),
    "sac": SACConfig(**REPLAY, gradient_steps=0.1, hidden_sizes=SMALL),
}
ORIGINAL: dict[str, Any] = {"ppo": PPO, "mmrkhs": MMRKHS, "dqn": DQN, "sac": SAC}
TWINS = {
    "ppo-trunk-leak-from-critic": "healthy_trunk",
    "mmrkhs-mmd-samples-detached": "healthy_sampled",
    "mmrkhs-mmd-clamped-at-zero": "healthy_sampled",
}
"""Mutants that differ from the original in their set-up too, and the same set-up without the bug."""
STEPS = 200
IN_ROUNDING_ONLY = {"ppo-advantage-std-without-epsilon"}
"""Bugs that change nothing here: 1e-8 is lost in float32 unless the advantages are almost equal."""


class Tiny(gym.Env[Any, Any]):
    """Episodes of up to seven steps that end in both ways, with rewards beyond 1 and bounds that are not [-1, 1]."""

    def __init__(self, continuous: bool) -> None:
        self.observation_space = gym.spaces.Box(-5.0, 5.0, (3,), np.float32)
        low, high = np.array([-2, -1], np.float32), np.array([2, 3], np.float32)
        self.action_space = gym.spaces.Box(low, high) if continuous else gym.spaces.Discrete(3)
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        reward = float(np.sum(action)) + self.np_random.normal()
        return self._obs(), reward, bool(self.np_random.random() < 0.1), self.steps >= 7, {}

    def _obs(self) -> Any:
        return self.np_random.normal(size=3).astype(np.float32)


def module_of(subject: str) -> ModuleType:
    name = "sb3" if subject.startswith("sb3") else subject
    return import_module(f"tests.probes.mutants_{name}")


def attribute(mutant: dict[str, Any]) -> str:
    return mutant["id"].replace("-", "_")


def trained(train: Any, subject: str) -> list[Any]:
    """Everything that a short run leaves behind: what it logged (clocks apart) and what it now thinks."""
    torch.set_num_threads(1)
    log: list[Any] = []
    agent = train(
        lambda: Tiny(subject != "dqn"),
        total_steps=STEPS,
        seed=3,
        config=CONFIGS[subject],
        log=lambda metrics, steps: log.append({k: v for k, v in metrics.items() if not k.startswith("time/")}),
    )
    assert agent.env_steps >= STEPS
    assert log
    rows = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)
    return [log, [np.asarray(agent.act(row, True)).tolist() for row in rows]]


@cache
def healthy(subject: str, twin: str = "") -> str:
    original = getattr(module_of(subject), twin) if twin else ORIGINAL[subject]
    return repr(trained(trainer_of(original, None), subject))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m["id"])
def test_is_planted_or_said_why_not(mutant: dict[str, Any]) -> None:
    module = module_of(mutant["subject"])
    reason = getattr(module, "NOT_PLANTED", {}).get(mutant["id"])
    assert isinstance(getattr(module, attribute(mutant), None), type) != bool(reason)


@pytest.mark.parametrize("subject", REFERENCE)
def test_nothing_is_planted_that_is_not_in_the_list(subject: str) -> None:
    listed = {attribute(m) for m in MUTANTS if m["subject"] == subject}
    assert {n for n in vars(module_of(subject)) if n.startswith(f"{subject}_")} <= listed


PLANTED = [m for m in MUTANTS if m["subject"] in REFERENCE and m["id"] not in module_of(m["subject"]).NOT_PLANTED]


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda m: m["id"])
def test_runs_to_its_end_and_differs_from_the_original(mutant: dict[str, Any]) -> None:
    subject = mutant["subject"]
    train = load_target(f"tests.probes.mutants_{subject}:train_{attribute(mutant)}")
    differs = repr(trained(train, subject)) != healthy(subject, TWINS.get(mutant["id"], ""))
    assert differs or mutant["id"] in IN_ROUNDING_ONLY


def test_equal_advantages_are_not_finite_without_epsilon() -> None:
    mutant = load_target("tests.probes.mutants_ppo:ppo_advantage_std_without_epsilon")
    made = mutant(lambda: Tiny(False), config=CONFIGS["ppo"])
    assert made.normalised(torch.ones(4)).isnan().all()
    assert PPO(lambda: Tiny(False), config=CONFIGS["ppo"]).normalised(torch.ones(4)).isfinite().all()


@pytest.mark.parametrize("subject", REFERENCE)
def test_the_original_repeats_itself(subject: str) -> None:
    """Otherwise a difference would prove nothing."""
    assert repr(trained(trainer_of(ORIGINAL[subject], None), subject)) == healthy(subject)
