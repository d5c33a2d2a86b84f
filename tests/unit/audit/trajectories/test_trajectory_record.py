"""What the checks of trajectories read off the episodes, against slow twins."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.audit.trajectories import record as module
from firstbreak.audit.trajectories.coverage import Grid
from firstbreak.audit.trajectories.moving import jumps_to_a_start, still_steps, usual_step
from firstbreak.audit.trajectories.pumping import pay_of_the_best
from firstbreak.audit.trajectories.record import record_of
from firstbreak.audit.trajectories.trajectory import Trajectory
from firstbreak.audit.trajectories.visiting import halves

RNG = np.random.default_rng


def walk(seed: int, *, steps: int = 40, reward: float = 0.0, tail: bool = False, **more: bool | None) -> Trajectory:
    random = RNG(seed)
    states = np.cumsum(random.normal(size=(steps + tail, 2)), axis=0)
    return Trajectory("x", seed, states, random.integers(3, size=steps), np.full(steps, reward), **more)


def test_the_flags_of_all_episodes() -> None:
    found = record_of([walk(0), walk(1, terminated=True, truncated=False), walk(2, truncated=True, success=False)], "x")
    assert found.terminated.tolist() == [-1, 1, -1]
    assert found.truncated.tolist() == [-1, 0, 1]
    assert found.success.tolist() == [-1, -1, 0]
    assert found.unpaid
    assert not record_of([walk(0), walk(1, reward=0.5)], "x").unpaid


def test_numbers_that_are_not_finite_are_counted_by_episode() -> None:
    bad = Trajectory("x", 0, np.array([[1.0], [math.nan]]), np.array([math.inf, 0.0]), np.array([math.nan, math.nan]))
    assert record_of([walk(0), bad, bad], "x").not_finite == {"reward": 2, "observation": 2, "action": 2}


def test_last_observations_are_compared_with_the_first_of_the_next() -> None:
    each = [walk(i, tail=True) for i in range(5)]
    assert (record_of(each, "x").followed, record_of(each, "x").handed_over) == (4, 0)
    for one, after in pairwise(each):
        one.observations[-1] = after.observations[0]
    assert record_of(each, "x").handed_over == 4
    assert record_of([walk(i) for i in range(5)], "x").followed == 0


def test_the_draw_is_bounded_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_EPISODES", 30)
    found = record_of((walk(i) for i in range(100)), "x")
    assert found.n == 100
    assert len(found.drawn) == 30
    places = [one.index for one in found.drawn]
    assert places == sorted(places)
    assert 20 < np.mean(places) < 80
    monkeypatch.setattr(module, "MOST_NUMBERS", 1000)
    assert sum(o.observations.size + o.actions.size + o.rewards.size for o in
               record_of((walk(i) for i in range(100)), "x").drawn) <= 1000  # fmt: skip


def test_pictures_are_not_kept_in_the_draw() -> None:
    one = Trajectory("x", 0, np.zeros((2, 1)), np.zeros(2), np.zeros(2), frames=np.zeros((2, 8, 8, 3), np.uint8))
    assert record_of([one], "x").drawn[0].frames is None


def slow_still(one: Trajectory, spread: np.ndarray) -> list[bool]:
    found = []
    for t in range(one.steps):
        after = one.observations[t + 1] if t + 1 < len(one.observations) else None
        near = after is not None and all(
            abs(after[j] - one.observations[t][j]) <= 1e-6 * spread[j] for j in range(len(spread))
        )
        found.append(near)
    return found


@given(st.lists(st.integers(0, 2), min_size=1, max_size=15), st.booleans())
def test_standing_still_equals_its_slow_twin(states: list[int], tail: bool) -> None:
    steps = len(states) - tail
    if not steps:
        return
    seen = np.array(states, float)[:, None] * [1, 10]
    one = Trajectory("x", 0, seen, np.zeros(steps), np.zeros(steps))
    assert still_steps(one, np.ones(2)).tolist() == slow_still(one, np.ones(2))


def slow_jumps(each: list[Trajectory], usual: np.ndarray) -> list[tuple[int, int]]:
    starts = [one.observations[0] for one in each]
    box = [(min(s[j] for s in starts), max(s[j] for s in starts)) for j in range(len(usual))]

    def inside(state: np.ndarray) -> bool:
        return all(lo - 0.1 * (hi - lo) <= x <= hi + 0.1 * (hi - lo) for x, (lo, hi) in zip(state, box, strict=True))

    return [
        (place, t)
        for place, one in enumerate(each)
        for t in range(one.steps - 1)
        if inside(one.observations[t + 1])
        and not inside(one.observations[t])
        and any(abs(one.observations[t + 1][j] - one.observations[t][j]) > 5 * usual[j] for j in range(len(usual)))
    ]


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_jumps_to_a_start_equal_their_slow_twin(seed: int) -> None:
    each = [walk(seed + i) for i in range(8)]
    random = RNG(seed)
    planted = set[tuple[int, int]]()
    for place, one in enumerate(each):
        at = int(random.integers(2, 38))
        one.observations[at + 1 :] += each[(place + 1) % 8].observations[0] - one.observations[at + 1]
        planted.add((place, at))
    found = record_of(each, "x")
    assert jumps_to_a_start(found) == slow_jumps(each, usual_step(found))


def test_the_pay_of_the_best_while_nothing_moves() -> None:
    def one(index: int, still: bool) -> Trajectory:
        states = np.zeros((20, 1)) if still else np.arange(20.0)[:, None]
        return Trajectory("x", index, states, np.zeros(20), np.full(20, 2.0 if still else 1.0), success=index % 4 == 0)

    found = pay_of_the_best(record_of([one(i, i % 2 == 0) for i in range(40)], "x"))
    assert found is not None
    assert (found.episodes, found.judged, found.succeeded) == (20, 20, 10)
    assert found.share == found.low == 19 / 20  # nothing is known of the last step
    assert pay_of_the_best(record_of([one(i, True) for i in range(40)], "x")) is None
    assert pay_of_the_best(record_of([walk(i, reward=-i) for i in range(40)], "x")) is None


def test_halves_that_visit_alike_and_unlike() -> None:
    def one(index: int, cells: int) -> Trajectory:
        random = RNG(index)
        states = random.integers(cells, size=(60, 2)).astype(float)
        return Trajectory("x", index, states, np.zeros(60), np.full(60, float(index)))

    alike = halves(record_of([one(i, 12) for i in range(40)], "x"))
    assert alike is not None
    assert alike.ratio_low < 1 < alike.ratio_high
    assert alike.better.sum() == alike.worse.sum() == 20
    found = record_of([one(i, 3 if i >= 20 else 12) for i in range(40)], "x")
    unlike = halves(found)
    assert unlike is not None
    assert unlike.ratio_high < 0.15
    for half, flags in ((unlike.high, unlike.better), (unlike.low, unlike.worse)):
        states = np.concatenate([o.observations for o, flag in zip(found.drawn, flags, strict=True) if flag])
        shares = [count / len(states) for count in Grid(found.states).counts(states).values()]
        assert half == pytest.approx(math.prod(p**-p for p in shares), rel=0.05)
    assert halves(record_of([one(i, 12) for i in range(15)], "x")) is None
