"""Targets that have another shape than the values are named at the critic, with the real Stable-Baselines3."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firstbreak.monitor.adapters.parts.sb3.off_policy import BROADCAST, EXPECTED
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.tensors.critic import own_targets
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)
BATCH = 64


def flattened(model, of: str):
    """Replayed rows lose their last dimension in one place."""
    sample = model.replay_buffer.sample

    def sampled(*args, **named):
        rows = sample(*args, **named)
        return rows._replace(**{of: getattr(rows, of).flatten()})

    model.replay_buffer.sample = sampled
    return model


def rows_of(model) -> list[dict[str, float]]:
    monitor = Answering()
    model.learn(400, callback=MonitorCallback(monitor, every_steps=20))
    assert not monitor.faults
    return [row for _, row in monitor.given if EXPECTED in row]


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("of", ["rewards", "dones"])
@pytest.mark.parametrize("make", [worlds.dqn, worlds.sac, worlds.td3])
def test_a_lost_dimension_is_measured_and_no_number_is_lost(make, of: str) -> None:
    sound, broken = (rows_of(m) for m in (make(batch_size=BATCH), flattened(make(batch_size=BATCH), of)))
    assert {row[BROADCAST] for row in sound} == {0.0}
    assert {row[BROADCAST] for row in broken} == {1 - 1 / BATCH}
    assert set(broken[-1]) == set(sound[-1])


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_it_is_an_alarm_at_the_critic() -> None:
    model = flattened(worlds.sac(batch_size=BATCH), "rewards")
    with Monitor(None, algorithm="SAC", framework="stable_baselines3", clock="env_steps") as monitor:
        model.learn(600, callback=MonitorCallback(monitor, every_steps=20))
    assert not monitor.faults
    assert "targets-broadcast" in {alarm.finding.name for alarm in monitor.alarms}


def test_each_value_has_the_target_of_its_own_row() -> None:
    q, rewards, later = torch.zeros(3, 1), torch.arange(3.0), torch.tensor([[10.0], [20.0], [30.0]])
    own, others = own_targets(q, rewards + later)
    np.testing.assert_array_equal(own, [[10], [21], [32]])
    assert others == pytest.approx(2 / 3)
    own, others = own_targets(q, rewards)
    np.testing.assert_array_equal(own, [[0], [1], [2]])
    assert others == pytest.approx(2 / 3)
    assert own_targets(q, later) == (later, 0.0)
    apart = torch.zeros(4)
    assert own_targets(torch.zeros(3), apart) == (apart, 0.0)
    wide = torch.zeros(5, 3, 1)
    assert own_targets(q, wide) == (wide, 0.0)
