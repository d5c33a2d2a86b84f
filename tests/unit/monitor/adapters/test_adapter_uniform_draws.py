"""A replay buffer of which a part is never drawn is told of, whoever draws; one that is drawn from evenly is not."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3.common.buffers import ReplayBuffer

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.exchange.uniform_draws import METRIC
from firstbreak.trainers.dqn import DQN, DQNConfig
from tests.unit.monitor.adapters import torchrl_worlds
from tests.unit.monitor.adapters.sb3_worlds import dqn, sac

torch.set_num_threads(1)


class Rows(Monitor):
    def __init__(self, folder):
        super().__init__(folder)
        self.seen = []

    def _log(self, metrics, step, clock):
        if METRIC in metrics:
            self.seen.append((step, metrics[METRIC]))
        return super()._log(metrics, step, clock)


@pytest.mark.parametrize("make", [dqn, sac])
@pytest.mark.parametrize("broken", [False, True])
def test_draws_from_a_part_of_the_buffer_alone(make, broken):
    model, monitor = make(batch_size=64, buffer_size=500), Rows(None)

    class Beginning(MonitorCallback):
        def _on_step(self):
            if broken and self.num_timesteps == 500:
                buffer = self.model.replay_buffer
                buffer.sample = lambda count, env=None: buffer._get_samples(
                    np.random.randint(buffer.size() // 2, size=count), env=env
                )
            return super()._on_step()

    model.learn(800, callback=Beginning(monitor, every_steps=20))
    monitor.close()
    assert monitor.faults == []
    assert max(nats for step, nats in monitor.seen if step <= 500) < 16
    assert ("replay-drawn-unevenly" in {alarm.finding.name for alarm in monitor.alarms}) is broken
    assert "_get_samples" not in vars(model.replay_buffer)


@pytest.mark.parametrize("broken", [False, True])
def test_a_reference_trainer_that_draws_from_a_part_alone(broken):
    monitor = Rows(None)
    config = DQNConfig(learning_starts=100, batch_size=64, log_every_steps=20)
    trainer = DQN(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    usual, log = trainer.sample, log_to(monitor, trainer)

    def sample():
        if broken and trainer.env_steps > 600:
            return trainer.buffer[torch.randint(len(trainer.buffer) // 2, (64,))]
        return usual()

    trainer.sample = sample
    trainer.learn(1000, log)
    monitor.close()
    assert monitor.faults == []
    assert monitor.seen
    assert ("replay-drawn-unevenly" in {alarm.finding.name for alarm in monitor.alarms}) is broken


@pytest.mark.parametrize(("make", "within"), [(dqn, 0), (sac, 64)])
@pytest.mark.parametrize("left", [None, 0, 3])
def test_a_buffer_that_shrinks_is_told_of_at_once_though_rows_lie_far_apart(make, within, left):
    model, monitor = make(buffer_size=2000), Rows(None)

    class Beginning(MonitorCallback):
        def _on_step(self):
            if left is not None and self.num_timesteps == 1707:
                self.model.replay_buffer.pos = left
            return super()._on_step()

    model.learn(1800, callback=Beginning(monitor))
    monitor.close()
    assert monitor.faults == []
    found = [alarm.at for alarm in monitor.alarms if alarm.finding.name == "replay-emptied"]
    assert bool(found) is (left is not None)
    assert all(0 <= at - 1707 <= within for at in found)


def test_a_buffer_of_another_kind_may_draw_as_it_likes():
    class Newest(ReplayBuffer):
        pass

    model, monitor = dqn(batch_size=64, replay_buffer_class=Newest), Rows(None)
    model.learn(500, callback=MonitorCallback(monitor, every_steps=20))
    monitor.close()
    assert monitor.faults == []
    assert monitor.seen == []


@pytest.mark.parametrize("broken", [False, True])
def test_torchrl(broken):
    from firstbreak.monitor.adapters.torchrl import MonitorHook  # its own imports warn, but for those of the worlds

    monitor, batches = Rows(None), []

    class Planting(MonitorHook):
        def register(self, trainer, name="monitor"):
            super().register(trainer, name)
            trainer.register_op("post_steps", self._count)

        def _count(self):
            batches.append(1)
            if broken and len(batches) == 30:
                operation = next(iter(self._trainer._process_optim_batch_ops))[0]
                sampler = operation.__wrapped__.__self__.replay_buffer._sampler
                sampler.sample = lambda storage, count: (torch.randint(len(storage) // 2, (count,)), {})

    torchrl_worlds.sac(frames=32 * 40, hook=Planting(monitor))
    monitor.close()
    assert monitor.faults == []
    assert max(nats for step, nats in monitor.seen if step <= 32 * 30) < 16
    assert ("replay-drawn-unevenly" in {alarm.finding.name for alarm in monitor.alarms}) is broken
