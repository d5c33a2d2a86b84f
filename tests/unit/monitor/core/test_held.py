"""Steps that are counted together say what they say one by one, whatever their form; small tables as numpy has them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import Monitor
from firstbreak.monitor.exchange.columns import finite, mean, middle, quantile, spread
from firstbreak.monitor.exchange.exchanged import Exchanged
from firstbreak.monitor.exchange.held import MOST_ENTRIES, done, held, held_action, runs, seen, tables
from firstbreak.monitor.world import World, watched

KINDS: tuple[Any, ...] = (
    lambda rng: rng.normal(size=3),
    lambda rng: rng.normal(size=3).astype(np.float32),
    lambda rng: rng.integers(0, 255, size=(2, 2, 3), dtype=np.uint8),
    lambda rng: rng.integers(0, 4, size=2).tolist(),
    lambda rng: {"a": rng.normal(size=2)},
    lambda _: None,
    lambda rng: np.where(rng.random(3) < 0.2, np.inf, 1.0),
)
ACTIONS: tuple[Any, ...] = (
    lambda rng: int(rng.integers(0, 3)),
    lambda rng: np.int64(rng.integers(0, 30)),
    lambda rng: rng.normal(size=2),
    lambda rng: rng.integers(0, 3, size=1),
    lambda _: "left",
)


class OneByOne(World):
    """Counts every step when it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._room = 1

    def _count(self) -> None:
        super()._count()
        self._room = 1


def exactly(row: Any) -> dict[str, str]:
    return {name: float(value).hex() for name, value in row.items()}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.003, 0.1]))
def test_steps_counted_together_say_what_they_say_one_by_one(seed: int, changes: float) -> None:
    rng = np.random.default_rng(seed)
    fast, slow = World(), OneByOne()
    many = 0
    shown = KINDS[seed % len(KINDS)]
    acted = ACTIONS[seed % len(ACTIONS)]
    before = shown(rng)
    for _ in range(1500):
        if rng.random() < changes:
            shown, acted = KINDS[rng.integers(len(KINDS))], ACTIONS[rng.integers(len(ACTIONS))]
        if rng.random() < 0.05:
            before = shown(rng)
        action, after = acted(rng), shown(rng)
        reward = float(rng.integers(0, 3)) if rng.random() < 0.99 else float("nan")
        for world in (fast, slow):
            world.step(before, action, after, reward)
        before = after
        if rng.random() < 0.03:
            rows = [exactly(world.numbers()) for world in (fast, slow)]
            assert rows[0] == rows[1]
            many += bool(rows[0])
    assert many > 5


def test_an_environment_that_writes_into_its_own_array_is_seen_as_it_was() -> None:
    fast, slow = World(), OneByOne()
    rng, obs, act = np.random.default_rng(0), np.zeros(3), np.zeros(1)
    rows: list[dict[str, str]] = []
    for _ in range(640):
        then = obs.copy()
        act[:] = rng.normal(size=1)
        obs[:] = 0.9 * obs + act + rng.normal(size=3)
        for world in (fast, slow):
            world.step(then, act, obs, float(obs[0]))
        rows += [exactly(slow.numbers())] if (row := exactly(fast.numbers())) else []
        assert not row or row == rows[-1]
    assert len(rows) == 10


def test_a_copy_is_held_and_large_ones_are_not() -> None:
    obs, action = np.zeros(3, dtype=np.float32), np.zeros(2)
    kept, kept_action = held(obs), held_action(action)
    obs[:], action[:] = 1.0, 1.0
    assert kept is not None
    assert (kept.tolist(), kept.dtype, kept_action.tolist()) == ([0.0] * 3, np.float32, [0.0] * 2)
    assert held(np.zeros(MOST_ENTRIES + 1)) is None
    assert held({"a": obs}) is None
    assert held_action(np.int64(3)) == 3


def test_forms_are_told_apart() -> None:
    one, other = np.zeros(2), np.zeros(3)
    steps = [(one, np.int64(1), 0.0, False, False, one)] * 3 + [(one, np.int64(99), 0.0, False, False, one)]
    steps += [(other, np.zeros(2), 0.0, False, False, other), (None, np.zeros(2), 0.0, False, False, other)]
    assert [len(run) for run in runs(steps)] == [3, 1, 1, 1]
    assert seen([None]) is None
    assert done([np.array({"a": 1})]) is None
    assert done([np.array("left")]) is None


@given(st.integers(0, 10**6), st.booleans())
def test_tables_of_one_form_are_those_of_its_run_and_others_are_left_to_runs(seed: int, mixed: bool) -> None:
    rng = np.random.default_rng(seed)
    shown, acted = KINDS[seed % len(KINDS)], ACTIONS[rng.integers(len(ACTIONS))]
    steps, exchanged = [], Exchanged()
    for place in range(6):
        if mixed and place == 3:
            shown, acted = KINDS[rng.integers(len(KINDS))], ACTIONS[rng.integers(len(ACTIONS))]
        before, after = held(shown(rng)), held(shown(rng))
        steps.append((before, held_action(acted(rng)), 0.0, False, False, after))
        exchanged.add(steps[-1])
    found, parts = tables(steps), runs(steps)
    if found is not None:
        assert len(parts) == 1
        slow = seen([one[0] for one in steps]), done([one[1] for one in steps]), seen([one[5] for one in steps])
        for fast, other in zip(found, slow, strict=True):
            assert other is not None
            np.testing.assert_array_equal(fast, other)
    elif len(parts) == 1:
        assert steps[0][0] is None or steps[0][1].dtype.kind == "U" or steps[0][0].shape != steps[0][5].shape
    if any(one[1].dtype.kind == "U" for one in steps):
        return
    taken = exchanged.last(6)
    if taken is None:
        assert exchanged.observations(6) is None
    else:
        np.testing.assert_array_equal(exchanged.observations(6), taken.obs)


def test_a_monitor_hears_of_every_step_of_a_training_that_ends_between_two_rows() -> None:
    monitor = Monitor(None, algorithm="PPO", clock="updates", now=lambda: 0.0)
    world = World(monitor)
    env = watched(gym.make("CartPole-v1"), world)
    env.reset(seed=0)
    for _ in range(70):
        if any(env.step(0)[2:4]):
            env.reset()
    monitor.log({"policy/kl_old": 0.01}, step=1)
    assert monitor.latest["reward/env_mean"] == 1.0
    assert world.exchanged.count == 70


@given(st.integers(0, 10**6), st.integers(1, 70), st.integers(1, 9))
def test_small_tables_are_summed_up_as_numpy_does_it(seed: int, rows: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, width)) * 10.0 ** rng.integers(-6, 6)
    np.testing.assert_array_equal(mean(table), table.mean(0))
    np.testing.assert_array_equal(spread(table), table.std(0))
    assert quantile(table[:, 0], 0.75) == np.quantile(table[:, 0], 0.75)
    assert middle(np.sort(table[:, 0])) == np.median(table[:, 0])
    assert finite(table)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_seen(bad: float) -> None:
    assert not finite(np.zeros((2, 2)), np.array([[0.0, bad]]))
    assert np.isnan(quantile(np.array([1.0, np.nan, 2.0]), 0.75))
