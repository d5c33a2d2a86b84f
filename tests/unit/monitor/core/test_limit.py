"""Cuts of one copy's episodes: a limit that became shorter is told, whatever else cuts episodes is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from firstbreak import Monitor
from firstbreak.monitor.exchange.limit import ALIKE, KNOWN, LASTS, METRIC, Cuts, Limit
from firstbreak.monitor.world import World, watched


def said(lengths: Iterable[int], *, cut: bool = True, limit: Limit | None = None) -> list[float | None]:
    """Return what is said at the end of each episode of these lengths; a negative length is one that fails."""
    limit, found = limit or Limit(), list[float | None]()
    for length in lengths:
        limit.reset()
        for _ in range(abs(length) - 1):
            assert limit.step(terminated=False, truncated=False) is None
        found.append(limit.step(terminated=length < 0, truncated=cut and length > 0))
    return found


def test_a_limit_that_stays_is_one() -> None:
    assert said([60, -20, 60, 60, -59, 60, 60]) == [None, None, None, None, None, 1.0, 1.0]


def test_a_shorter_limit_is_told_once_it_is_sure() -> None:
    # The first cut ends the episode in which the limit changed.
    assert said([60] * KNOWN + [43, 30, 30, 30])[KNOWN:] == [None, None, 0.5, 0.5]
    assert LASTS == 3
    assert said([60] * KNOWN + [30, -7, 30, 30])[KNOWN:] == [None, None, None, 0.5]


def test_first_episodes_may_begin_in_the_middle() -> None:
    assert said([17, 60, 60, 60, 60])[-1] == 1.0


@pytest.mark.parametrize(
    "lengths",
    [
        [60, 60, 31, 60, 60, 60, 60, 30, 30, 30],  # cuts come at lengths that differ
        [60] * 9 + [20, 30, 20, 30, 20, 30],  # out of bounds, here and there
        [60] * 9 + [30, 30, -40, 30, 30, 30],  # an episode passed what cut the others
        [60] * 9 + [90, 30, 30, 30],  # a limit that grows is another story
        [60, 60, 30, 30, 30, 30],  # the limit was hardly known
        [-60] * 9 + [30, 30, 30],  # nothing was ever cut
    ],
)
def test_what_is_no_shorter_limit_is_not_told(lengths: list[int]) -> None:
    assert all(share is None or share == 1.0 for share in said(lengths))


def test_an_end_that_is_both_is_a_failure() -> None:
    limit = Limit()
    assert limit.step(terminated=True, truncated=True) is None
    assert said([5] * KNOWN, limit=limit)[-1] == 1.0


def test_some_cuts_are_told_at_once_from_row_to_row() -> None:
    cuts = Cuts()
    assert [cuts.add(share) for share in (1.0, 0.5, 0.5, 0.5)] == [False, *[True] * ALIKE, False]
    assert cuts.take() == {METRIC: 0.5}
    assert cuts.take() == {}
    assert not cuts.add(None)
    assert cuts.take() == {METRIC: 1.0}
    assert cuts.add(0.4)


class Timed(gym.Env[Any, Any]):
    """Lasts for `limit` steps."""

    observation_space = gym.spaces.Box(-9, 9, (2,))
    action_space = gym.spaces.Discrete(2)
    limit = 40

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return self.np_random.normal(size=2), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += 1
        return self.np_random.normal(size=2), 1.0, False, self.count >= self.limit, {}


class Watching(Monitor):
    """Keeps where it was told."""

    def beside(self, metrics: Any, *, step: float) -> Any:
        self.seen = [*getattr(self, "seen", []), (step, metrics[METRIC])]
        return super().beside(metrics, step=step)


def test_a_world_tells_it_at_once_and_in_its_rows() -> None:
    monitor = Watching(None, clock="env_steps")
    world = World(monitor)
    inner = Timed()
    env = watched(inner, world)
    env.reset(seed=0)
    for step in range(600):
        inner.limit = 12 if step >= 400 else 40
        if env.step(0)[3]:
            env.reset()
    monitor.log({"reward/episode_return_mean": 1.0}, step=600)
    assert {share for step, share in monitor.seen if step <= 400} == {1.0}
    assert next(step for step, share in monitor.seen if share < 1) <= 436
    assert np.isclose(min(share for _, share in monitor.seen), 0.3)
    assert any(alarm.finding.name == "time-limit-shortened" for alarm in monitor.alarms)
    monitor.close()
    assert monitor.faults == []
