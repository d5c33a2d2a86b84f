"""What the environment really does, against slow twins and planted changes."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import Monitor
from firstbreak.monitor.exchange.transitions import MOST_ENTRIES
from firstbreak.monitor.world import EVERY_STEPS, World, watched


def played(world: World, steps: int, name: str = "CartPole-v1", change: Any = None, seed: int = 0) -> None:
    env = gym.make(name)
    env = watched(change(env) if change else env, world)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()


class Opposite(gym.ActionWrapper[Any, Any, Any]):
    def action(self, action: Any) -> Any:
        return 1 - action


class Permuted(gym.ObservationWrapper[Any, Any, Any]):
    def observation(self, observation: Any) -> Any:
        return np.roll(observation, 1)


class Blank(gym.ObservationWrapper[Any, Any, Any]):
    def observation(self, observation: Any) -> Any:
        return np.zeros_like(observation)


class Dear(gym.RewardWrapper[Any, Any]):
    def reward(self, reward: Any) -> Any:
        return 3 * reward


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.integers(1, 4), st.floats(-1e6, 1e6))
def test_means_and_spreads_are_those_of_numpy(seed: int, width: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    obs = rng.normal(size=(EVERY_STEPS, width)) + offset
    rewards = rng.normal(size=EVERY_STEPS) + offset
    world = World()
    for before, after, reward in zip(obs, obs, rewards, strict=True):
        world.step(before, 0, after, float(reward))
    assert world._obs is not None
    mean, std = world._obs.both()
    np.testing.assert_allclose(mean, obs.mean(0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(std, obs.std(0), rtol=1e-5, atol=1e-9)
    found = world.numbers()
    assert found["reward/env_mean"] == pytest.approx(rewards.mean(), rel=1e-9, abs=1e-9)
    assert found["reward/env_std"] == pytest.approx(rewards.std(), rel=1e-5)
    assert (found["reward/env_min"], found["reward/env_max"]) == (rewards.min(), rewards.max())


def test_a_row_waits_until_it_covers_enough_steps() -> None:
    world = World()
    played(world, EVERY_STEPS - 1)
    assert world.numbers() == {}
    played(world, 1, seed=1)
    assert world.numbers()
    assert world.numbers() == {}


@pytest.mark.parametrize(
    ("change", "metric", "low", "high"),
    [
        (None, "env/action_response", 0.9, 1.0),
        (Opposite, "env/action_response", -1.0, -0.9),
        (Blank, "obs/constant_frac", 1.0, 1.0),
        (None, "obs/constant_frac", 0.0, 0.0),
        (Permuted, "env/dynamics_surprise", 8.0, 1e6),
        (Opposite, "env/dynamics_surprise", 8.0, 1e6),
        (None, "env/dynamics_surprise", 0.0, 2.0),
        (Dear, "reward/env_surprise", 8.0, 1e9),
        (None, "reward/env_surprise", 0.0, 2.0),
    ],
)
def test_a_change_of_the_world_shows_at_its_row(change: Any, metric: str, low: float, high: float) -> None:
    world = World()
    for part in range(6):
        played(world, 512, seed=part)
        world.numbers()
    played(world, 512, change=change, seed=6)
    assert low - 1e-6 <= world.numbers()[metric] <= high + 1e-6


@pytest.mark.parametrize(
    ("change", "link", "rule"),
    [
        (Opposite, "environment_data", "dynamics-changed"),
        (Blank, "environment_data", "observation-shift"),
        (lambda env: gym.wrappers.TransformReward(env, lambda r: -r), "reward_signal", "reward-unforeseen"),
        (None, "", ""),
    ],
    ids=["opposite", "blank", "flipped", "unchanged"],
)
def test_the_monitor_names_the_link_that_changed(change: Any, link: str, rule: str) -> None:
    monitor = Monitor(None, algorithm="PPO", clock="env_steps", time_share=float("inf"), now=lambda: 0.0)
    world = World(monitor)
    for part in range(12):
        played(world, 512, change=change if part >= 8 else None, seed=part)
        monitor.log({"policy/kl_old": 0.01}, step=512 * (part + 1))
    assert monitor.faults == []
    if not rule:
        assert monitor.alarms == []
        return
    assert (str(monitor.alarms[0].finding.link), monitor.alarms[0].finding.name) == (link, rule)
    assert 4096 < monitor.alarms[0].at <= 4096 + 2 * EVERY_STEPS, "a row or two after the change, not a rollout later"


def test_rows_of_the_world_stand_where_the_run_counts_its_own_steps() -> None:
    seen: list[float] = []

    class Kept(Monitor):
        def beside(self, metrics: Any, *, step: float) -> None:
            seen.append(step)
            super().beside(metrics, step=step)

    monitor = Kept(None, algorithm="PPO", clock="env_steps", now=lambda: 0.0)
    world = World(monitor, every_steps=100)
    played(world, 250)
    monitor.log({"policy/kl_old": 0.01}, step=10_250)  # the run was resumed: its own count is ahead
    played(world, 250, seed=1)
    assert seen == [100, 200, 10_300, 10_400]


def test_where_the_run_counts_updates_the_worlds_numbers_come_with_its_rows() -> None:
    monitor = Monitor(None, algorithm="PPO", clock="updates", now=lambda: 0.0)
    world = World(monitor)
    for update in range(3):
        played(world, 300, seed=update)
        monitor.log({"policy/kl_old": 0.01}, step=update)
    assert monitor.rows == 3
    assert "reward/env_mean" in monitor.latest


def test_what_is_raised_beside_the_loop_is_in_its_next_answer() -> None:
    monitor = Monitor(
        None, algorithm="PPO", clock="env_steps", act={"reward-nonfinite": "stop_training"}, now=lambda: 0.0
    )
    world = World(monitor)
    for _ in range(EVERY_STEPS + 1):
        world.step(np.zeros(2), 0, np.ones(2), float("nan"))
    assert monitor.alarms
    assert monitor.log({"policy/kl_old": 0.01}, step=200).stop_training


@pytest.mark.parametrize("obs", [{"a": 1}, "text", None, np.zeros(MOST_ENTRIES + 1), object(), ()])
def test_what_is_no_small_vector_is_passed_over(obs: Any) -> None:
    world = World()
    for _ in range(EVERY_STEPS):
        world.step(obs, 0, obs, 1.0)
    paid = ("nonfinite_frac", "mean", "std", "min", "max", "distinct_frac")
    assert set(world.numbers()) == {f"reward/env_{name}" for name in paid}


def test_nan_is_counted_and_does_not_spoil_what_is_usual() -> None:
    world = World()
    for part in range(4):
        played(world, 512, seed=part)
        world.numbers()
    for _ in range(EVERY_STEPS):
        world.step(np.zeros(4), 0, np.full(4, np.nan), float("nan"))
    found = world.numbers()
    assert (found["reward/env_nonfinite_frac"], found["obs/nonfinite_frac"]) == (1.0, 1.0)
    played(world, 512, seed=5)
    found = world.numbers()
    assert (found["reward/env_nonfinite_frac"], found["obs/nonfinite_frac"]) == (0.0, 0.0)
    assert found["env/dynamics_surprise"] < 2.0


def test_one_reading_that_is_no_number_is_told_of_its_entry() -> None:
    world = World()
    for place in range(EVERY_STEPS):
        world.step(np.zeros(4), 0, np.array([0.1, place, np.inf if place == 9 else 0.0, 1.0]), 1.0)
    assert world.numbers()["obs/nonfinite_frac"] == 0.25


def test_large_observations_are_compared_by_mean_and_spread() -> None:
    rng = np.random.default_rng(0)
    world = World()
    found: dict[str, float] = {}
    for row in range(12):
        for _ in range(EVERY_STEPS):
            obs = rng.normal(size=200) * (50 if row == 11 else 1)
            world.step(obs, rng.normal(size=2), obs, 0.0)
        found = dict(world.numbers())
        assert row < 1 or row == 11 or found["obs/scale_growth"] < 0.5
    assert found["obs/scale_growth"] > 3.0
    assert "env/dynamics_surprise" not in found


def test_the_wrapper_changes_nothing() -> None:
    plain, seen = gym.make("Pendulum-v1"), watched(gym.make("Pendulum-v1"), World())
    for env in (plain, seen):
        env.action_space.seed(3)
    np.testing.assert_array_equal(plain.reset(seed=3)[0], seen.reset(seed=3)[0])
    for _ in range(300):
        a, b = plain.step(plain.action_space.sample()), seen.step(seen.action_space.sample())
        np.testing.assert_array_equal(a[0], b[0])
        assert a[1:4] == b[1:4]


def told(world: World, env: Any, steps: int, seed: int = 0) -> list[dict[str, float]]:
    env = watched(env, world)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    rows: list[dict[str, float]] = []
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
        rows += [dict(row)] if (row := world.numbers()) else []
    return rows


@pytest.mark.parametrize("method", ["fork", "pickle"])
def test_a_copy_in_a_worker_process_tells_nobody(tmp_path: Path, method: str) -> None:
    monitor = Monitor(tmp_path, algorithm="PPO", clock="env_steps")
    world = World(monitor)
    monitor.log({"policy/entropy": 0.6}, step=0)
    if method == "fork":
        child = os.fork()
        if child == 0:
            played(world, 3 * EVERY_STEPS)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    else:
        there = pickle.loads(pickle.dumps(world))
        played(there, 3 * EVERY_STEPS)
        assert there.numbers() == {}
    played(world, 3 * EVERY_STEPS)
    monitor.close()
    assert len(list(tmp_path.rglob("*.jsonl"))) == 1, "the rows of a worker would be a run of their own"
    assert "reward/env_mean" in monitor.latest


def test_scales_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(EVERY_STEPS, 5)) * np.array([1.0, 3.0, 0.0, 500.0, 2.0])
    world = World()
    for before, after in zip(obs, obs, strict=True):
        world.step(before, 0, after, 1.0)
    found = world.numbers()
    stds = [float(np.std(obs[:, i])) for i in (0, 1, 3, 4)]
    assert found["obs/scale_median"] == pytest.approx(np.median(stds))
    assert found["obs/scale_lead"] == pytest.approx(max(stds) / np.median(sorted(stds)[:-1]))


class Shuffled(gym.ObservationWrapper[Any, Any, Any]):
    """Shows any observation of the past."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.seen: list[Any] = []
        self.chance = np.random.default_rng(0)

    def observation(self, observation: Any) -> Any:
        self.seen.append(observation)
        return self.seen[self.chance.integers(len(self.seen))]


def test_how_much_is_foreseen_tells_a_world_from_noise() -> None:
    key = "env/predicted_frac"
    real = [row[key] for row in told(World(), gym.make("CartPole-v1"), 4000) if key in row]
    mixed = [row[key] for row in told(World(), Shuffled(gym.make("CartPole-v1")), 4000) if key in row]
    assert min(len(real), len(mixed)) > 30
    assert np.median(real) > 0.95
    assert np.median(mixed) < 0.05


def test_what_noise_leaves_is_not_foreseen() -> None:
    rng = np.random.default_rng(1)
    world, slopes = World(), rng.normal(size=(3, 3))
    rows: list[float] = []
    for _ in range(60 * EVERY_STEPS):
        before = rng.normal(size=3)
        after = before @ slopes + rng.normal(size=3)
        world.step(before, 0, after, 0.0)
        rows += [row["env/predicted_frac"]] if "env/predicted_frac" in (row := world.numbers()) else []
    # What is left is the noise, of variance 1 as the observations before.
    assert np.mean(rows[-20:]) == pytest.approx(0.0, abs=0.08)


def test_where_the_trainers_rows_come_as_often_the_world_gives_none_of_its_own() -> None:
    """Two rows for one would halve what the first looks at everything see."""
    monitor = Monitor(None, algorithm="SAC", clock="env_steps", now=lambda: 0.0)
    world = World(monitor, every_steps=64)
    for at, more in ((32, 32), (64, 32), (96, 32), (101, 5), (165, 64), (229, 64), (293, 64)):
        played(world, more, seed=at)
        monitor.log({"policy/kl_old": 0.01}, step=at)
    assert monitor.rows == 7
    assert "reward/env_mean" in monitor.latest
