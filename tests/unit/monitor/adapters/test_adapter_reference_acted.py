"""What the reference DQN does beside what its network finds best: epsilon says how often they differ."""

from __future__ import annotations

import gymnasium
import pytest
import torch

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.reference_acted import METRIC, acted_of
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.odds import CERTAIN
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.ppo import PPO, PPOConfig

torch.set_num_threads(1)
STEPS, SINCE = 1200, 800


class Watching(Monitor):
    """Keeps the rows in which it is told."""

    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        if METRIC in metrics:
            self.seen.append((step, dict(metrics)))
        return super()._log(metrics, step, clock)


def trained(copies: int, *, turned: bool):
    config = DQNConfig(hidden_sizes=(8,), batch_size=8, num_envs=copies, log_every_steps=100, train_frequency=8)
    trainer = DQN(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    monitor = Watching()
    log = log_to(monitor, trainer)
    usual = trainer.explored

    def explored(greedy):
        if not turned or trainer.env_steps < SINCE:
            return usual(greedy)
        random = torch.randint(trainer.actions, greedy.shape)
        return torch.where(torch.rand(greedy.shape) > trainer.epsilon, random, greedy)

    trainer.explored = explored
    trainer.learn(STEPS, log)
    assert monitor.faults == []
    monitor.close()
    return monitor.seen


@pytest.mark.parametrize("copies", [1, 3])
def test_epsilon_explains_what_is_done(copies: int) -> None:
    rows = trained(copies, turned=False)
    assert len(rows) >= 8
    assert max(row[METRIC] for _, row in rows) < 12


@pytest.mark.parametrize("copies", [1, 3])
def test_a_coin_that_is_turned_is_told_within_some_steps(copies: int) -> None:
    rows = trained(copies, turned=True)
    assert max(row[METRIC] for step, row in rows if step <= SINCE) < 12
    first = next(step for step, row in rows if row[METRIC] >= CERTAIN)
    assert first < SINCE + 110
    assert any(list(row) == [METRIC] for _, row in rows)  # a row of its own, before the next one is due


def test_a_trainer_that_draws_is_not_watched() -> None:
    config = PPOConfig(num_steps=16, num_envs=2, hidden_sizes=(8,))
    assert acted_of(PPO(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config), Watching()) is None
    assert acted_of(None, Watching()) is None
