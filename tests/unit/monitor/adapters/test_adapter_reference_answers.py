"""Rollouts of the reference trainers: a policy that no longer computes what it did is told of as it plays."""

from __future__ import annotations

import gymnasium
import pytest
import torch

from firstbreak.finding import Link
from firstbreak.monitor.adapters.parts.weights.twin import METRIC
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig

torch.set_num_threads(1)
NAME = "answers-change-at-rest"


class Watching(Monitor):
    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        if METRIC in metrics:
            self.seen.append((step, metrics[METRIC]))
        return super()._log(metrics, step, clock)


def reference(kind, begin=None, updates=15, after=12):
    """Train; `begin` changes the trainer once so many updates are over."""
    if kind is PPO:
        config = PPOConfig(num_steps=128, update_epochs=1, num_envs=2, hidden_sizes=(8,))
    else:
        config = MMRKHSConfig(rollout_steps=128, epochs=1, num_envs=2, hidden_sizes=(8,))
    trainer = kind(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    monitor = Watching()
    log = log_to(monitor, trainer)

    def logged(metrics, step):
        log(metrics, step)
        if begin is not None and step == after * 256:
            begin(trainer)

    trainer.learn(updates * 256, logged)
    monitor.close()
    assert monitor.faults == []
    return monitor


def pushed(_, inputs, found):
    return found + torch.tensor([2.0, 0.0])


def from_here_on(trainer):
    trainer.actor.net[-1].register_forward_hook(pushed)


def while_it_plays(trainer):
    usual = trainer.collect

    def collect():
        handle = trainer.actor.net[-1].register_forward_hook(pushed)
        try:
            return usual()
        finally:
            handle.remove()

    trainer.collect = collect


@pytest.mark.parametrize("kind", [PPO, MMRKHS])
@pytest.mark.parametrize("begin", [from_here_on, while_it_plays])
def test_a_policy_that_answers_otherwise_is_named_at_the_first_step_of_the_next_rollout(kind, begin):
    monitor = reference(kind, begin)
    named = [alarm for alarm in monitor.alarms if alarm.finding.name == NAME]
    assert [alarm.at for alarm in named] == [12 * 256 + 2]
    assert named[0].finding.link is Link.POLICY_UPDATE
    assert all(moved == 0 for step, moved in monitor.seen if step <= 12 * 256)


@pytest.mark.parametrize("kind", [PPO, MMRKHS])
def test_a_sound_training_has_the_same_answers_throughout(kind):
    monitor = reference(kind)
    assert [step for step, _ in monitor.seen] == [256 * row for row in range(1, 16)]  # no row but the trainer's own
    assert {moved for _, moved in monitor.seen} == {0.0}
    assert NAME not in {alarm.finding.name for alarm in monitor.alarms}
