"""Real short trainings with TorchRL: what was done beside what the network would do, of every kind of policy."""

from __future__ import annotations

import warnings

import pytest
import torch

from firstbreak.finding import Link
from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters import torchrl_worlds as worlds

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torchrl.envs.utils import ExplorationType, set_exploration_type

    from firstbreak.monitor.adapters.parts.torchrl.acted import DRAWS, GREEDY
    from firstbreak.monitor.adapters.torchrl import MonitorHook

BATCHES, BROKEN = 26, 18
"""Of 32 frames."""
NAME = "acts-unlike-network"


class Rows(Monitor):
    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        self.seen += [(step, name, metrics[name]) for name in (DRAWS, GREEDY) if name in metrics]
        return super()._log(metrics, step, clock)


class Planting(MonitorHook):
    """Guards; after batch `BROKEN` it makes a mistake."""

    def __init__(self, monitor, fault=None):
        super().__init__(monitor)
        self.fault, self.batches = fault, 0

    def register(self, trainer, name="monitor"):
        super().register(trainer, name)
        trainer.register_op("post_steps", self._count)

    def _count(self):
        self.batches += 1
        if self.fault is not None and self.batches == BROKEN:
            self.fault(self._trainer)


def train(make, fault=None, **more):
    monitor = Rows()
    make(frames=32 * BATCHES, hook=Planting(monitor, fault), **more)
    monitor.close()
    assert monitor.faults == []
    return monitor


def walks(trainer):
    """Noise adds up from step to step."""
    policy, walk = trainer.collector.policy, [torch.zeros(1)]
    generator = torch.Generator().manual_seed(1)

    def wander(_, args, found):
        walk[0] = walk[0] + 0.3 * torch.randn(1, generator=generator).abs()
        return found.set("action", (found["action"] + walk[0]).clamp(-2, 2))

    policy.register_forward_hook(wander)


def worst(trainer):
    """The worst action is taken for the best."""
    policy = trainer.collector.policy

    def turn(_, args, found):
        values = found["action_value"]
        return found.set("action", torch.nn.functional.one_hot(values.argmin(-1), values.shape[-1]))

    policy.register_forward_hook(turn)


@pytest.mark.parametrize(
    ("make", "metric"), [(worlds.sac, DRAWS), (worlds.td3, DRAWS), (worlds.dqn, GREEDY)], ids=["sac", "td3", "dqn"]
)
@pytest.mark.parametrize("copies", [1, 2])
def test_a_sound_training_does_what_its_network_says(make, metric, copies):
    monitor = train(make, copies=copies)
    assert len(monitor.seen) > 4
    assert {name for _, name, _ in monitor.seen} == {metric}
    assert max(nats for *_, nats in monitor.seen) < 12
    assert NAME not in {alarm.finding.name for alarm in monitor.alarms}


@pytest.mark.parametrize(
    ("make", "fault"), [(worlds.sac, walks), (worlds.td3, walks), (worlds.dqn, worst)], ids=["sac", "td3", "dqn"]
)
def test_what_is_done_otherwise_is_named_within_some_batches(make, fault):
    monitor = train(make, fault)
    assert max(nats for step, _, nats in monitor.seen if step <= 32 * BROKEN) < 12
    named = [alarm for alarm in monitor.alarms if alarm.finding.name == NAME]
    assert named[0].finding.link is Link.EXPLORATION
    assert 32 * BROKEN < named[0].at <= 32 * (BROKEN + 4)


def test_who_does_not_draw_from_the_start_is_left_alone():
    with set_exploration_type(ExplorationType.DETERMINISTIC):
        monitor = Rows()

        def quiet(trainer):
            trainer.collector.exploration_type = ExplorationType.DETERMINISTIC

        class Quiet(Planting):
            def register(self, trainer, name="monitor"):
                quiet(trainer)
                super().register(trainer, name)

        worlds.sac(frames=32 * 12, hook=Quiet(monitor))
        monitor.close()
    assert monitor.faults == []
    assert monitor.seen == []
