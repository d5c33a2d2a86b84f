"""What the reference DQN and SAC do beside what their networks say, and whether these compute what they did."""

from __future__ import annotations

import gymnasium
import pytest
import torch

from firstbreak.monitor.adapters.parts.reference.acted import METRIC, acted_of
from firstbreak.monitor.adapters.parts.standardised import METRIC as DRAWS
from firstbreak.monitor.adapters.parts.weights.twin import METRIC as MOVED
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.normal_draws import CERTAIN as UNLIKE_CHANCE
from firstbreak.monitor.odds import CERTAIN
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig

torch.set_num_threads(1)
STEPS, SINCE = 1200, 800


class Watching(Monitor):
    """Keeps the rows in which it is told."""

    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        if {METRIC, DRAWS, MOVED} & metrics.keys():
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
    return [(step, row) for step, row in monitor.seen if METRIC in row]


def drawn(copies: int, begin=None):
    """Train SAC; `begin` changes the trainer at a step."""
    config = SACConfig(hidden_sizes=(8,), batch_size=8, num_envs=copies, log_every_steps=100, gradient_steps=1 / 8)
    trainer = SAC(lambda: gymnasium.make("Pendulum-v1"), seed=0, config=config)
    monitor = Watching()
    log, usual = log_to(monitor, trainer), trainer.step

    def step(sample):
        if begin is not None and trainer.env_steps >= SINCE and not begun:
            begun.append(trainer.env_steps)
            begin(trainer)
        return usual(sample)

    begun, trainer.step = [], step
    trainer.learn(STEPS, log)
    assert monitor.faults == []
    monitor.close()
    return monitor, begun


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


@pytest.mark.parametrize("copies", [1, 3])
def test_what_sac_does_are_draws_of_its_policy(copies: int) -> None:
    monitor, _ = drawn(copies)
    found = [row[DRAWS] for _, row in monitor.seen if DRAWS in row]
    assert len(found) >= 4
    assert max(found) < 12
    assert {row[MOVED] for _, row in monitor.seen if MOVED in row} == {0.0}


@pytest.mark.parametrize("copies", [1, 3])
def test_draws_that_are_pushed_are_told_within_some_steps(copies: int) -> None:
    def begin(trainer):
        usual = trainer.actor.sample

        def sample(obs):
            action, log_prob = usual(obs)
            return (action + 1.5).clamp(-2, 2), log_prob

        trainer.actor.sample = sample

    monitor, (began,) = drawn(copies, begin)
    assert max(row[DRAWS] for step, row in monitor.seen if step <= began and DRAWS in row) < 12
    first = next(step for step, row in monitor.seen if row.get(DRAWS, 0) >= UNLIKE_CHANCE)
    assert began < first <= began + 200


def test_an_actor_that_computes_otherwise_is_told_at_the_next_look() -> None:
    def begin(trainer):
        trainer.actor.net[-1].register_forward_hook(lambda _, inputs, found: 0.5 * found)

    monitor, (began,) = drawn(1, begin)
    assert {row[MOVED] for step, row in monitor.seen if step <= began and MOVED in row} == {0.0}
    first = next(step for step, row in monitor.seen if row.get(MOVED, 0) > 0.02)
    assert began <= first <= began + 64
