"""What an update is fed beside what the environment exchanged: identities, against slow twins and planted mistakes."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from firstbreak import Monitor
from firstbreak.monitor.exchange.exchanged import KEPT, Exchanged, of
from firstbreak.monitor.exchange.handed_on import HandedOn, Stored
from firstbreak.monitor.exchange.held import Step
from firstbreak.monitor.exchange.maps import Map, ordered
from firstbreak.monitor.world import World, watched

RNG = np.random.default_rng(0)


def one(obs: Any, action: int, reward: float, terminated: bool = False, truncated: bool = False) -> Step:
    return obs, np.array(action), reward, terminated, truncated, obs


def taken(steps: int = 64, actions: int = 2):
    """Steps of a world, as it keeps them."""
    exchanged = Exchanged()
    for place in range(steps):
        exchanged.add(one(RNG.normal(size=3), place % actions, float(RNG.normal()), place % 10 == 9, place % 25 == 24))
    found = exchanged.last(steps)
    assert found is not None
    return found


def test_a_ring_holds_the_newest_steps_and_no_more() -> None:
    exchanged = Exchanged()
    for place in range(KEPT + 7):
        exchanged.add(one(np.array([float(place)]), 1, -float(place)))
    assert exchanged.count == KEPT + 7
    found = exchanged.last(3)
    assert found is not None
    assert found.obs[:, 0].tolist() == [KEPT + 4, KEPT + 5, KEPT + 6]
    assert found.reward.tolist() == [-KEPT - 4, -KEPT - 5, -KEPT - 6]
    assert exchanged.last(KEPT + 1) is None
    assert exchanged.last(0) is None


def test_steps_that_differ_in_form_or_are_no_numbers_are_not_compared() -> None:
    exchanged = Exchanged()
    exchanged.add(one(np.zeros(2), 1, 0.0))
    exchanged.add(one(np.zeros(3), 1, 0.0))
    exchanged.add(one(None, 1, 0.0))
    assert exchanged.last(2) is None
    assert exchanged.last(1) is None


def test_a_world_tells_its_monitor_and_two_worlds_none() -> None:
    with Monitor(None) as monitor:
        assert of(monitor) is None
        env = watched(gym.make("CartPole-v1"), World(monitor))
        env.reset(seed=0)
        _, reward, *_ = env.step(1)
        exchanged = of(monitor)
        assert exchanged is not None
        found = exchanged.last(1)
        assert found is not None
        assert (found.action.tolist(), found.reward.tolist()) == ([[1.0]], [float(reward)])
        assert not found.ended.any()
        World(monitor)
        assert of(monitor) is None


def test_ends_of_the_environment_are_kept() -> None:
    world = World()
    env = watched(gym.make("CartPole-v1", max_episode_steps=5), world)
    env.reset(seed=0)
    for _ in range(5):
        env.step(1)
    found = world.exchanged.last(5)
    assert found is not None
    assert found.ended.tolist() == [False] * 4 + [True]


def test_what_is_stored_as_it_was_is_an_identity() -> None:
    steps = taken()
    stored = Stored(obs=2 * steps.obs + 1, action=steps.action, reward=0.1 * steps.reward, ended=steps.ended)
    handed = HandedOn()
    first, again = handed.numbers(steps, stored), handed.numbers(steps, stored)
    assert first["data/obs_fit"] == pytest.approx(1)
    assert "data/obs_shift" not in first
    assert again["data/obs_shift"] == pytest.approx(0, abs=1e-9)
    assert again["data/action_fit"] == 1
    assert (again["data/reward_fit"], again["data/reward_gain"]) == (pytest.approx(1), pytest.approx(0.1))
    assert (again["data/end_kept_frac"], again["data/end_added_frac"]) == (1, 0)


def test_each_mistake_shows_in_its_own_number() -> None:
    steps = taken()
    sound = {"obs": steps.obs, "action": steps.action, "reward": steps.reward, "ended": steps.ended}

    def found(**changed):
        handed = HandedOn()
        handed.numbers(steps, Stored(**sound))
        return handed.numbers(steps, Stored(**{**sound, **changed}))

    assert found(obs=np.roll(steps.obs, 1, axis=0))["data/obs_fit"] < 0.2
    assert found(obs=steps.obs + 3)["data/obs_shift"] == pytest.approx(3, rel=0.2)
    assert found(action=1 - steps.action)["data/action_fit"] == 0
    assert found(reward=np.roll(steps.reward, 1))["data/reward_fit"] < 0.2
    assert found(reward=np.zeros(64))["data/reward_fit"] == 0
    assert found(ended=np.zeros(64))["data/end_kept_frac"] == 0
    assert found(ended=np.ones(64))["data/end_added_frac"] > 0.8


def test_a_value_added_where_an_episode_was_cut_off_is_no_mistake() -> None:
    steps = taken()
    reward = steps.reward + 100 * (steps.truncated & ~steps.terminated)
    stored = Stored(reward=reward, ended=steps.ended, bootstrapped=True)
    assert HandedOn().numbers(steps, stored)["data/reward_fit"] == pytest.approx(1)


def test_rewards_that_never_vary_are_asked_for_their_size_alone() -> None:
    exchanged = Exchanged()
    for _ in range(32):
        exchanged.add(one(RNG.normal(size=2), 0, 1.0))
    found = HandedOn().numbers(exchanged.last(32), Stored(reward=np.full(32, 5.0)))
    assert found == {"data/reward_gain": pytest.approx(5)}


def test_only_as_many_steps_as_both_saw_are_compared() -> None:
    handed, exchanged = HandedOn(), Exchanged()

    def step(times: int) -> None:
        for _ in range(times):
            exchanged.add(one(np.zeros(1), 0, 0.0))

    assert handed.due(None, 0, 100) == 0
    assert handed.due(exchanged, 0, 100) == 0
    step(64)
    assert handed.due(exchanged, 64, 100) == 64
    step(64)
    assert handed.due(exchanged, 128, 32) == 32
    step(80)  # an evaluation that the world watches, too
    assert handed.due(exchanged, 192, 100) == 0
    step(64)
    assert handed.due(exchanged, 256, 100) == 64
    step(3)
    assert handed.due(exchanged, 259, 100) == 0


def test_a_map_against_least_squares_entry_by_entry() -> None:
    first, second = RNG.normal(size=(50, 3)), RNG.normal(size=(50, 3))
    seen = first * [2, -1, 0.5] + [1, 0, 3] + 0.01 * RNG.normal(size=(50, 3))
    later = second * [2, -1, 0.5] + [1, 0, 4]
    mapping = Map()
    fit, shift = mapping.take(first, seen)
    slow = [np.polyfit(first[:, k], seen[:, k], 1) for k in range(3)]
    assert fit == pytest.approx(np.mean([np.corrcoef(first[:, k], seen[:, k])[0, 1] ** 2 for k in range(3)]))
    assert shift is None
    _, shift = mapping.take(second, later)
    errors = [np.polyval(slow[k], second[:, k]) - later[:, k] for k in range(3)]
    spread = np.maximum(later.var(0), seen.var(0))
    wanted = np.sqrt(np.mean([np.mean(e**2) / spread[k] for k, e in enumerate(errors)]))
    assert shift == pytest.approx(wanted)
    assert mapping.take(first[:, :2], seen) == (None, None)
    assert mapping.take(first * np.nan, seen) == (None, None)


def test_what_hardly_varies_for_a_while_is_no_measure_of_distance() -> None:
    wide, narrow = RNG.normal(size=(50, 1)), 0.01 * RNG.normal(size=(50, 1))
    mapping = Map()
    mapping.take(wide, wide)
    assert mapping.take(narrow, narrow + 0.05)[1] == pytest.approx(0.05, rel=0.3)


def test_a_map_of_a_row_that_it_does_not_explain_is_no_measure_of_the_next() -> None:
    wide = RNG.normal(size=(50, 2))
    mapping = Map()
    mapping.take(wide, wide)
    still = wide * [1.0, 0.001]
    drifting = still + np.linspace(0.0, 0.02, 50)[:, None] * [0.0, 1.0]
    assert mapping.take(still, drifting)[0] == pytest.approx(1, abs=1e-3)  # by a map that moves, which tells no shift
    assert mapping.take(wide, wide)[1] == pytest.approx(0.0, abs=1e-9)  # of the first entry: the other has no map
    assert mapping.take(wide, wide * [1.0, 3.0])[1] == pytest.approx((4 / 9 / 2) ** 0.5, rel=1e-3)  # and now it has one


def test_an_entry_that_stands_still_is_no_mistake() -> None:
    steps = RNG.normal(size=(32, 2))
    steps[:, 1] = 7.0
    assert Map().take(steps, steps.astype(np.float32).astype(np.float64))[0] == pytest.approx(1)
    assert Map().take(np.ones((32, 2)), np.ones((32, 2))) == (None, None)


def test_an_entry_that_stands_still_under_a_normaliser_that_moves_on_is_no_mistake() -> None:
    scale, mapping = np.linspace(1.0, 1.01, 32)[:, None], Map()
    moving = RNG.normal(size=(32, 2))
    assert mapping.take(moving, moving * scale)[0] == pytest.approx(1, abs=1e-3)
    still = moving.copy()
    still[:, 1] = 2.0  # as at the end of its range
    assert mapping.take(still, still * scale)[0] == pytest.approx(1, abs=1e-3)
    other = np.column_stack([moving[:, 0], RNG.normal(size=32)])
    assert mapping.take(still, other)[0] == pytest.approx(0.5, abs=1e-3)  # noise is as large as ever


def slow_order(given: np.ndarray, found: np.ndarray) -> float:
    """The rising function as the largest of the least means (min-max formula)."""
    values = np.unique(given)
    fitted = {
        v: max(
            min(found[(given >= lo) & (given <= hi)].mean() for hi in values[values >= v]) for lo in values[values <= v]
        )
        for v in values
    }
    return 1 - np.mean([(fitted[g] - f) ** 2 for g, f in zip(given, found, strict=True)]) / found.var()


@pytest.mark.parametrize("seed", range(5))
def test_the_best_rising_function_against_the_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given, found = rng.integers(0, 9, 30).astype(float), rng.normal(size=30)
    assert ordered(given, found) == pytest.approx(slow_order(given, found), abs=1e-9)


def test_what_is_cut_off_at_a_bound_is_no_mistake() -> None:
    steps = taken()
    cut = np.clip(steps.reward, -0.3, 0.3)
    found = HandedOn().numbers(steps, Stored(obs=np.clip(steps.obs, -0.5, 0.5), reward=cut))
    assert (found["data/reward_fit"], found["data/obs_fit"]) == (pytest.approx(1), pytest.approx(1))
    assert HandedOn().numbers(steps, Stored(reward=np.roll(cut, 1)))["data/reward_fit"] < 0.4
    assert HandedOn().numbers(steps, Stored(reward=-cut))["data/reward_gain"] < 0
