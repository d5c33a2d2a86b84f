"""What holds of a world until it breaks: entries that move, steps that lead on, ends that lie outside."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import Monitor
from firstbreak.monitor.exchange import ends, restarts, stuck
from firstbreak.monitor.exchange.restarts import Restarts
from firstbreak.monitor.exchange.stuck import Stuck, foretold
from firstbreak.monitor.world import World, watched

FROM = 3000
"""Steps of both copies after which a world is broken."""


class Post(gym.Env[Any, Any]):
    """Push a swaying post; it falls where it leaves its bounds. The last entry is the wind, which an episode keeps."""

    def __init__(self, fault: str = "") -> None:
        self.observation_space = gym.spaces.Box(-9, 9, (4,), np.float64)
        self.action_space = gym.spaces.Box(-1, 1, (1,), np.float64)
        self.fault, self.count, self.kept = fault, 0, np.zeros(0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.speed = self.np_random.uniform(-0.2, 0.2, 2)
        self.wind, self.lasted = self.np_random.uniform(-0.05, 0.05), 0
        return self.seen(), {}

    def on(self, fault: str) -> bool:
        return self.fault == fault and self.count > FROM // 2

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += 1
        self.lasted += 1
        self.speed += 0.1 * float(action[0]) + 0.02 * self.at + self.wind + self.np_random.normal(0, 0.01)
        self.at += 0.2 * self.speed
        bound = 0.3 if self.on("bound") else 1.0
        fell = abs(self.at) > bound
        over = self.lasted >= 60
        goal = self.on("goal") and abs(self.at) < 0.3 and self.lasted > 3
        limit = self.on("limit") and self.lasted >= 25
        if self.on("restarts") and not (fell or over) and self.np_random.random() < 0.15:
            self.reset()
        return self.seen(), -1.0 * fell + 9.0 * goal, bool(fell or goal or limit), over and not fell, {}

    def seen(self) -> Any:
        obs = np.array([self.at, self.speed, self.at * self.speed + self.speed, self.wind])
        if self.on("stuck"):
            self.kept = self.kept if len(self.kept) else obs
            return np.array([obs[0], self.kept[1], *obs[2:]])
        if self.on("zero"):
            return np.array([obs[0], 0.0, *obs[2:]])
        return obs


def played(fault: str, steps: int = 5000) -> list[dict[str, float]]:
    """Return the rows of a world of two copies, one every 64 steps, in which `fault` sets in after `FROM` steps."""
    world, rng = World(), np.random.default_rng(0)
    copies = [watched(Post(fault), world) for _ in range(2)]
    seen = [env.reset(seed=place)[0] for place, env in enumerate(copies)]
    rows = list[dict[str, float]]()
    for step in range(steps // 2):
        for place, env in enumerate(copies):
            push = rng.normal(0, 0.6) - 0.3 * seen[place][0] - 0.4 * seen[place][1]
            seen[place], _, terminated, truncated, _ = env.step(np.clip([push], -1, 1))
            if terminated or truncated:
                seen[place], _ = env.reset()
        if (step + 1) % 32 == 0:
            rows.append(dict(world.numbers()))
    return rows


def most(rows: list[dict[str, float]], metric: str) -> tuple[float, float]:
    """Return the most of a metric before the fault and after it."""
    values = [row.get(metric, 0.0) for row in rows]
    return max(values[: FROM // 64]), max(values[FROM // 64 :])


@pytest.mark.parametrize(
    ("fault", "metric", "least"),
    [("stuck", stuck.METRIC, 0.25), ("restarts", restarts.METRIC, restarts.AT_ONCE), ("bound", ends.METRIC, 1.0)],
)
def test_what_breaks_is_told(fault: str, metric: str, least: float) -> None:
    before, after = most(played(fault), metric)
    assert (before, after >= least) == (0.0, True)


@pytest.mark.parametrize("metric", [stuck.METRIC, restarts.METRIC, ends.METRIC])
@pytest.mark.parametrize("fault", ["", "zero", "goal", "limit"])
def test_an_unbroken_world_and_what_only_looks_alike_say_nothing(fault: str, metric: str) -> None:
    # A sensor that answers with nothing lies within its range: it is stuck as well.
    if (fault, metric) != ("zero", stuck.METRIC):
        assert most(played(fault), metric) == (0.0, 0.0)


def test_a_monitor_names_it_within_a_row() -> None:
    for fault, rule in (("stuck", "observation-entry-stuck"), ("restarts", "restarts-not-told")):
        monitor = Monitor(None, algorithm="PPO", clock="env_steps", time_share=float("inf"), now=lambda: 0.0)
        world, rng = World(monitor), np.random.default_rng(0)
        env = watched(Post(fault), world)
        env.reset(seed=0)
        for step in range(FROM // 2 + 80):
            _, _, terminated, truncated, _ = env.step(rng.uniform(-0.3, 0.3, 1))
            if terminated or truncated:
                env.reset()
            if step % 256 == 255:
                monitor.log({"policy/kl_old": 0.01}, step=step + 1)
        assert monitor.faults == []
        assert monitor.alarms, fault
        assert monitor.alarms[0].finding.name == rule
        assert FROM // 2 < monitor.alarms[0].at <= FROM // 2 + 64


def set_back() -> Restarts:
    """Return what knows that episodes begin at 0 to 0.2, and how well a world is foreseen."""
    known = Restarts(2)
    for place in range(20):
        known.begun(np.array([0.1 * (place % 3), 0.0]))
    for _ in range(restarts.ROWS):
        known.row(np.array([1e-4, 1e-4]))
    return known


def test_a_world_that_always_set_back_whoever_failed_is_left_alone() -> None:
    known, before = set_back(), np.full((16, 2), 3.0)
    after = before + 0.01
    jumps, missed = after.copy(), np.zeros((16, 2))
    jumps[4], missed[4] = (0.1, 0.0), 3.0
    said = [
        known.stretch(before, jumps if stretch % 2 else after, [0.0] * 16, None, lambda: missed)
        for stretch in range(80)
    ]
    assert max(said) == 0.0


@pytest.mark.parametrize(
    ("reward", "others", "share"),
    [(0.0, 0.0, 2 / restarts.WINDOW), (5.0, 0.0, 0.0), (0.0, 1.0, 0.0)],
    ids=["as usual", "paid as nothing was", "all steps are missed as far"],
)
def test_two_steps_that_jump_to_where_episodes_begin(reward: float, others: float, share: float) -> None:
    known = set_back()
    before, after = np.full((16, 2), 3.0), np.full((16, 2), 3.01)
    for _ in range(40):
        assert known.stretch(before, after, [0.0] * 16, None, lambda: np.zeros((16, 2))) == 0.0
    jumps, rewards, missed = after.copy(), [0.0] * 16, np.full((16, 2), others)
    jumps[[3, 9]], missed[[3, 9]], rewards[3], rewards[9] = (0.1, 0.0), 3.0, reward, reward
    ended = np.ones(16, dtype=np.bool_)
    assert known.stretch(before, jumps, rewards, ended, lambda: missed) == share
    ended[[3, 9]] = False
    assert set_back().stretch(before, jumps, rewards, ended, lambda: missed) == 0.0


@pytest.mark.parametrize(("off", "share"), [(0.01, 0.0), (0.1, 2 / restarts.WINDOW)])
def test_a_wall_in_a_world_that_is_foreseen_is_no_restart(off: float, share: float) -> None:
    known = Restarts(1)
    for place in (0.0, 1.0) * 4:
        known.begun(np.array([0.5 * place]))
    for _ in range(restarts.ROWS):
        known.row(np.array([1e-8]))
    before, missed = np.full((16, 1), 0.2), np.zeros((16, 1))
    for _ in range(40):
        known.stretch(before, before + 0.01, [0.0] * 16, None, lambda: missed)
    missed = missed.copy()
    missed[[3, 9]] = off
    assert known.stretch(before, before + 0.1, [0.0] * 16, None, lambda: missed) == share


def slow_stuck(stretches: list[tuple[Any, Any]]) -> list[list[int]]:
    """Return which entries are stuck in each stretch, entry by entry and step by step."""
    found = list[list[int]]()
    for now, (before, after) in enumerate(stretches):
        width, earlier = after.shape[1], stretches[: max(0, now - 1)]
        steps = sum(len(one[1]) for one in earlier)
        seen = [row for one in stretches[:now] for row in one[1]]
        moving, still = list[int](), list[int]()
        for entry in range(width):
            stood = [[b[entry] == a[entry] for b, a in zip(*one, strict=True)] for one in earlier]
            usually = all(sum(one) <= stuck.MOST_STILL * len(one) for one in stood)
            if steps < stuck.KNOWN or not usually or sum(map(sum, stood)) > stuck.SELDOM * steps:
                continue
            here = [b[entry] == a[entry] for b, a in zip(before, after, strict=True)]
            low, high = min(row[entry] for row in seen), max(row[entry] for row in seen)
            if all(here) and all(low < row[entry] < high for row in after):
                still.append(entry)
            if sum(here) <= stuck.MOST_STILL * len(here):
                moving.append(entry)
        found.append(still if moving else [])
    return found


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.floats(0, 0.01), st.booleans())
def test_stuck_entries_are_those_of_a_slow_twin(seed: int, chance: float, some: bool) -> None:
    rng = np.random.default_rng(seed)
    stretches = list[tuple[Any, Any]]()
    for number in range(40):
        before = rng.normal(size=(16, 3))
        after = before + np.where(rng.random((16, 3)) < chance, 0.0, rng.normal(size=(16, 3)))
        if number > 35:
            after[:, 0] = before[:, 0] = 0.1
            after[:, 1] = before[:, 1] = 9.0 if some else 0.2
        stretches.append((before, after))
    known, found = Stuck(3), list[list[int]]()
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for before, after in stretches:
        said = known.stretch(before, after, low, high)
        found.append([] if said is None else np.flatnonzero(said).tolist())
        low, high = np.minimum(low, after.min(0)), np.maximum(high, after.max(0))
    assert found == slow_stuck(stretches)


def test_what_comes_to_rest_as_foreseen_is_not_stuck() -> None:
    usual = np.array([1.0, 1.0])
    assert foretold(np.array([[0.5, 0.01], [-0.5, 0.02]]), usual).tolist() == [True, False]
