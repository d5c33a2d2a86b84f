"""How often the callback looks: often enough for a break to be seen, seldom enough to cost nothing."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from firstbreak.monitor.adapters.parts.sb3.pace import (
    OFF_POLICY_STEPS,
    OFF_POLICY_UPDATES,
    ON_POLICY_STEPS,
    ON_POLICY_UPDATES,
    Pace,
)
from firstbreak.monitor.adapters.parts.weights.at_rest import METRIC as OUTSIDE
from firstbreak.monitor.adapters.sb3 import REST_STEPS, MonitorCallback
from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering


def rows_of(pace: Pace, frequency: int, burst: int, total: int, off_policy: bool) -> list[tuple[int, int]]:
    """Steps and gradient steps at which a training that makes `burst` of them every `frequency` steps gets rows."""
    updates, found = 0, []
    pace.start(0, 0, off_policy=off_policy)
    for steps in range(frequency, total + 1, frequency):
        before = pace.due(steps, updates)
        updates += burst
        assert pace.taken(steps) is before, "what was begun before an update is finished after it"
        if before:
            found.append((steps, updates))
    return found


@pytest.mark.parametrize(
    ("frequency", "burst", "gap"),
    [(1, 1, OFF_POLICY_STEPS), (4, 1, 4 * OFF_POLICY_UPDATES), (256, 128, 256), (1, 8, OFF_POLICY_STEPS)],
)
def test_off_policy_rows_lie_as_close_as_their_cost_allows(frequency: int, burst: int, gap: int) -> None:
    steps = [at for at, _ in rows_of(Pace(), frequency, burst, 2000, off_policy=True)]
    assert steps[0] <= max(frequency, OFF_POLICY_STEPS)
    assert set(np.diff(steps)) == {gap}


def test_on_policy_every_long_rollout_and_not_every_short_one() -> None:
    assert len(rows_of(Pace(), 512, 40, 5120, off_policy=False)) == 10
    short = [at for at, _ in rows_of(Pace(), 5, 1, 5000, off_policy=False)]
    assert short[0] == 5
    assert set(np.diff(short)) == {5 * ON_POLICY_UPDATES}, "one environment: 32 updates are sooner than 500 steps"
    wide = [at for at, _ in rows_of(Pace(), 40, 1, 5000, off_policy=False)]
    assert set(np.diff(wide)) == {13 * 40}, "eight environments: 500 steps are"
    assert 12 * 40 < ON_POLICY_STEPS <= 13 * 40


@pytest.mark.parametrize(
    ("epochs", "act", "rows"),
    [(2, {"policy_update": "stop_update"}, 12), (8, {}, 12), (2, {}, 3)],
    ids=["it may act", "32 steps of the optimiser", "short, and nothing is done"],
)
def test_every_update_of_ppo_that_matters_gets_its_row(epochs: int, act: dict[str, str], rows: int) -> None:
    monitor = Answering(act=act)
    worlds.ppo(n_steps=64, batch_size=16, n_epochs=epochs).learn(64 * 12, callback=MonitorCallback(monitor))
    before = [step for step, row in monitor.given if "advantage/mean" in row]
    after = [step for step, row in monitor.given if "optim/n_updates" in row]
    assert before == after
    assert len(after) == rows
    assert set(np.diff(after)) == {64 if rows == 12 else 256}


@pytest.mark.parametrize("off_policy", [True, False])
def test_what_the_user_asks_for_is_what_counts(off_policy: bool) -> None:
    steps = [at for at, _ in rows_of(Pace(20), 4, 1, 400, off_policy=off_policy)]
    assert set(np.diff(steps)) == {20}


def test_the_last_update_of_an_off_policy_training_gets_its_row() -> None:
    for off_policy in (True, False):
        pace = Pace(1000)
        pace.start(0, 0, off_policy=off_policy)
        assert pace.due(8, 0) is not off_policy  # the first rollout counts, the first replayed step does not
        pace.taken(8)
        pace.due(16, 8)
        pace.finish(off_policy=off_policy)
        assert pace.taken(16) is off_policy


def test_a_second_training_goes_on_from_where_the_first_stood() -> None:
    monitor, model = Answering(), worlds.dqn(train_freq=1)
    model.learn(200, callback=MonitorCallback(monitor))
    model.learn(200, callback=MonitorCallback(monitor), reset_num_timesteps=False)
    steps = [step for step, row in monitor.merged().items() if step > 200 and "optim/n_updates" in row]
    assert steps[0] == 200 + OFF_POLICY_STEPS
    assert set(np.diff(steps[:-1])) == {OFF_POLICY_STEPS}


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


class Jumping(MonitorCallback):
    """Breaks the critic of A2C right after the row of step 805, far from the next that is due."""

    broken = 1000.0

    def _on_rollout_start(self) -> None:
        super()._on_rollout_start()
        if self.num_timesteps == 830:
            self.model.policy.value_net.bias.data.fill_(self.broken)


def rows_after(broken: float, **more) -> list[tuple[int, dict[str, float]]]:
    monitor = Answering(**more)
    callback = Jumping(monitor)
    callback.broken = broken
    worlds.a2c().learn(1600, callback=callback)
    assert monitor.faults == []
    return [(step, row) for step, row in monitor.given if step > 830 and "optim/n_updates" in row]


@pytest.mark.parametrize("act", [{}, {"critic": "stop_training"}])
def test_an_update_that_stands_out_brings_the_next_row_of_a2c_forward(act: dict[str, str]) -> None:
    seen = rows_after(1000.0, act=act)
    assert seen[0][0] == 840, "the update at 835 stood out, that of 840 is looked at, and not that of 965"
    assert abs(seen[0][1]["critic/loss"]) > 50
    assert rows_after(0.0)[0][0] > 840, "an update like any other waits for its turn"


def test_what_stands_out_is_not_logged_itself() -> None:
    """Rows that are picked because a number is extreme would make extremes look frequent."""
    steps = [step for step, _ in rows_after(1000.0)]
    assert steps[0] == 840
    soon = [later for first, later in pairwise(steps) if later - first < 5 * ON_POLICY_UPDATES]
    assert len(soon) <= 2, "what goes on climbing, or leaps once more, is looked at again; then the pace is as ever"
