"""Ends at one step: shown by what is observed (clear), with the end of a round (a note), by nothing (an error)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from firstbreak.check import LONGEST_MESSAGE, Answer, Symptom, find_check
from firstbreak.finding import Severity
from firstbreak.preflight.environment.checks.time_limit_as_terminated import RARE
from firstbreak.preflight.environment.foretold import RIDGES, _loss, _weights, share_alike
from firstbreak.preflight.environment.world import Episode
from tests.unit.preflight.environment.broken_worlds import LIMIT_AS_END, timed
from tests.unit.preflight.environment.small_worlds import Drive, Grid, Table, changed, record, wrapped

NAME = "time-limit-as-terminated"


class Catch(Table):
    """A ball falls on a board; the paddle on the ground has to be below it (Osband et al. 2020, arXiv 1908.03568)."""

    rows, columns, balls = 12, 5, 1

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0, 1, (self.rows * self.columns,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.random = np.random.default_rng(seed)
        self.paddle, self.caught = self.columns // 2, 0
        self.drop()
        return self.look(), {}

    def drop(self) -> None:
        self.row, self.column = 0, int(self.random.integers(self.columns))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.paddle = min(max(self.paddle + int(action) - 1, 0), self.columns - 1)
        self.row += 1
        down = self.row == self.rows - 1
        reward = (1.0 if self.column == self.paddle else -1.0) if down else 0.0
        self.caught += down
        over = self.caught == self.balls
        if down and self.balls > 1:
            self.drop()
        return self.look(), reward, over, False, {}

    def look(self) -> Any:
        board = np.zeros((self.rows, self.columns), np.float32)
        board[self.row, self.column] = board[-1, self.paddle] = 1.0
        return board.ravel()


def binary(world: Any) -> Any:
    """The clock in seven bits beside the state: no bit by itself tells the hundredth step."""
    return np.append(world.state, [world.t >> k & 1 for k in range(7)]).astype(np.float32)


def offset(world: Any) -> Any:
    """Time to go is the difference of two entries that wander by themselves."""
    return np.array([world.state[0] + (100 - world.t), world.state[0], world.state[1]], np.float32)


def merged(make: Callable[[], Any]) -> Callable[[], Any]:
    def step(self: Any, action: Any) -> Any:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward, terminated or truncated, False, info

    return wrapped(make, step=step)


def answer(make: Any, steps: int = 4000) -> Answer:
    return find_check(NAME).look(record(make, steps=steps))


@pytest.mark.parametrize(
    "make", [Catch, *(changed(LIMIT_AS_END, look=look) for look in (timed, binary, offset)), changed(Catch, rows=20)]
)
def test_an_end_that_the_observation_shows_is_no_limit(make: Any) -> None:
    assert answer(make, steps=8000) is None


@pytest.mark.parametrize(
    "make",
    [
        LIMIT_AS_END,
        changed(Grid, ends=lambda w, goal: (w.t >= 60, False)),
        merged(changed(Drive, limit=60)),
        merged(lambda: gym.make("Pendulum-v1", max_episode_steps=60)),
        merged(lambda: gym.make("CartPole-v1", max_episode_steps=30)),
        changed(LIMIT_AS_END, look=lambda w: w.state * (1 + 9 * (w.t > 50))),
    ],
)
@pytest.mark.parametrize("steps", [1200, 8000])
def test_a_limit_that_nothing_shows_is_an_error(make: Any, steps: int) -> None:
    found = answer(make, steps)
    assert isinstance(found, Symptom)
    assert found.severity is None


def test_the_last_round_of_several_is_a_note() -> None:
    """Every ball that comes down looks like the last one, and the next one drops; how many came before is not seen."""
    found = answer(changed(Catch, balls=6))
    assert isinstance(found, Symptom)
    assert found.severity is Severity.INFO
    assert 0 < float(found.evidence["alike_frac"]) <= RARE
    assert len(found.message) <= LONGEST_MESSAGE
    often = answer(changed(Catch, rows=4, balls=6))  # a ball in three steps: as good as no sign
    assert isinstance(often, Symptom)
    assert often.severity is None


def played(seen: Any, ends: bool = True) -> Episode:
    length = len(seen) - 1
    last = (np.arange(length) == length - 1) & ends
    none = np.zeros(length, bool)
    return Episode(0, np.asarray(seen, float), (0,) * length, np.zeros((length, 1)), np.zeros(length), last, none)


def test_the_share_that_looks_alike_counts_whole_steps() -> None:
    """Ends are from 3 to 4; of the other steps every third is so, too, whatever else is seen and in whatever unit."""
    for unit in (1e-6, 1.0, 1e6):
        rounds = [[unit * (k % 3), np.inf, 7.0] for k in range(12)]
        one = [[unit * (k % 3), np.nan, 7.0] for k in range(9)]
        share = share_alike([*[played(rounds)] * 4, *[played(one, ends=False)] * 4], 11)
        alike = sum(k % 3 == 1 for k in range(10)) + sum(k % 3 == 1 for k in range(8))
        assert share == pytest.approx(alike / 18)


def test_it_says_nothing_with_less_than_two_ends_or_nothing_beside_them() -> None:
    ramp = np.arange(12.0)[:, None]
    assert share_alike([], 11) is None
    assert share_alike([played(ramp), played(ramp, ends=False)], 11) is None
    assert share_alike([played(ramp[:2])] * 4, 1) is None
    assert share_alike([played(ramp)] * 2, 11) == 0


@pytest.mark.parametrize("ridge", RIDGES)
def test_the_fit_lies_where_its_loss_is_least(ridge: float) -> None:
    """The slow twin: the loss written out, which no step along any entry makes smaller."""
    draw = np.random.default_rng(0)
    rows = np.concatenate([np.ones((60, 1)), draw.normal(size=(60, 3))], axis=1)
    last = rows[:, 1] + draw.normal(size=60) > 1

    def slow(at: Any) -> float:
        total = ridge / 2 * sum(float(w) ** 2 for w in at)
        for row, end in zip(rows, last, strict=True):
            score = sum(float(r) * float(w) for r, w in zip(row, at, strict=True))
            total += math.log1p(math.exp(-score if end else score)) / 2 / sum(last == end)
        return total

    best = _weights(rows, last, ridge)
    counts = np.where(last, 0.5 / last.sum(), 0.5 / (~last).sum())
    assert _loss(best, rows, np.where(last, 1.0, -1.0), counts, ridge) == pytest.approx(slow(best))
    for entry in range(4):
        for move in (-0.01, 0.01):
            assert slow(best + move * np.eye(4)[entry]) > slow(best)
