"""Which updates the callback looks at, and what it says before the next one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firstbreak.monitor.adapters.at_rest import METRIC as OUTSIDE
from firstbreak.monitor.adapters.sb3 import REST_STEPS, MonitorCallback
from firstbreak.monitor.adapters.sb3_pace import EVERY_STEPS, Pace
from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering


def rows_of(pace: Pace, frequency: int, total: int, off_policy: bool) -> list[int]:
    """Steps at which a training that is updated every `frequency` steps gets rows."""
    found: list[int] = []
    pace.start(0, off_policy=off_policy)
    for steps in range(frequency, total + 1, frequency):
        before = pace.due(steps)
        assert pace.taken(steps) is before, "what was begun before an update is finished after it"
        if before:
            found.append(steps)
    return found


@pytest.mark.parametrize("off_policy", [True, False])
def test_every_long_rollout_and_not_every_short_one(off_policy: bool) -> None:
    assert len(rows_of(Pace(), 512, 5120, off_policy)) == 10
    short = rows_of(Pace(), 5, 5000, off_policy)
    assert short[0] == (EVERY_STEPS if off_policy else 5)
    assert set(np.diff(short)) == {EVERY_STEPS}


@pytest.mark.parametrize("off_policy", [True, False])
def test_what_the_user_asks_for_is_what_counts(off_policy: bool) -> None:
    assert set(np.diff(rows_of(Pace(20), 4, 400, off_policy))) == {20}


def test_the_last_update_of_an_off_policy_training_gets_its_row() -> None:
    for off_policy in (True, False):
        pace = Pace(1000)
        pace.start(0, off_policy=off_policy)
        assert pace.due(8) is not off_policy  # the first rollout counts, the first replayed step does not
        pace.taken(8)
        pace.due(16)
        pace.finish(off_policy=off_policy)
        assert pace.taken(16) is off_policy


def test_a_second_training_goes_on_from_where_the_first_stood() -> None:
    monitor, model = Answering(), worlds.dqn(train_freq=1)
    model.learn(200, callback=MonitorCallback(monitor, every_steps=30))
    model.learn(200, callback=MonitorCallback(monitor, every_steps=30), reset_num_timesteps=False)
    steps = [step for step in monitor.merged() if step > 200]
    assert steps[0] == 200 + 30
    assert set(np.diff(steps[:-1])) == {30}


@pytest.mark.parametrize("broken", [lambda w: w.mul_(3), lambda w: w.fill_(math.nan)])
def test_weights_that_change_while_a_rollout_is_collected_are_told_before_it_is_over(broken) -> None:
    class Spoiling(MonitorCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps == 805:
                for weight in self.model.policy.q_net.parameters():
                    broken(weight.data)
            return super()._on_step()

    monitor = Answering()
    worlds.dqn(train_freq=400, gradient_steps=2).learn(1199, callback=Spoiling(monitor))
    told = [(step, row[OUTSIDE]) for step, row in monitor.given if row.get(OUTSIDE, 0.0) != 0.0]
    assert 805 <= told[0][0] <= 805 + REST_STEPS, "the next update comes at 1200 only"
    assert not told[0][1] <= 0.5
    assert all(row.get(OUTSIDE, 0.0) == 0.0 for step, row in monitor.given if step < 805)


def test_a_coefficient_that_is_raised_is_named_before_its_first_update() -> None:
    class Raising(MonitorCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps == 32 * 20 + 5:
                self.model.ent_coef = 10.0
            return super()._on_step()

    with Monitor(None, time_share=0.0) as monitor:
        worlds.ppo().learn(32 * 22, callback=Raising(monitor, every_steps=1))
    assert monitor.faults == []
    first = next(alarm for alarm in monitor.alarms if alarm.finding.metric == "policy/ent_coef")
    assert (first.at, first.finding.name) == (32 * 21, "entropy-bonus-dominates")
    assert first.finding.evidence["coefficient"] == 10.0
