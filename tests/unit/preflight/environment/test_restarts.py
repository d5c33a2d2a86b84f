"""Environments that begin anew and say no end are named; continuing tasks that move on are not; late starts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.check import Symptom, find_check
from firstbreak.finding import Severity
from firstbreak.preflight.environment.budget import Budget
from firstbreak.preflight.environment.guarding import guarded_source
from firstbreak.preflight.environment.recording import build_world
from firstbreak.preflight.environment.restarts import FARTHER, MARGIN_FRAC, ORDINARY_FRAC, jumps_back
from firstbreak.preflight.environment.world import Episode, World
from tests.unit.preflight.environment import contract_worlds as bad
from tests.unit.preflight.environment import restarting_worlds as worlds

SMALL = Budget(seconds=30.0, steps=6000, episodes=40)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def world_of(make: Any) -> World:
    source, facts = guarded_source(make)
    world = build_world(source, budget=SMALL)
    world.facts |= facts
    return world


def look(name: str, make: Any) -> Any:
    return find_check(name).look(world_of(make))


@pytest.mark.parametrize("make", [worlds.AnewAtEdge, worlds.AnewAfter60, worlds.BareCartPole])
def test_beginning_anew_without_an_end_is_named(make: Any) -> None:
    answer = look("resets-itself-inside-step", make)
    assert isinstance(answer, Symptom), answer
    assert "no end is said" in answer.message
    assert answer.severity is Severity.WARNING


def test_with_a_time_limit_it_is_a_note() -> None:
    answer = look("resets-itself-inside-step", worlds.AnewWithLimit)
    assert isinstance(answer, Symptom), answer
    assert answer.severity is Severity.INFO


CONTINUING = [
    worlds.Cart, worlds.Ring, worlds.GoalMoves, worlds.BallAnew, worlds.Jumper,
    lambda: gym.make("Pendulum-v1").unwrapped,
]  # fmt: skip


@pytest.mark.parametrize("make", CONTINUING)
def test_continuing_tasks_are_quiet(make: Any) -> None:
    answer = look("resets-itself-inside-step", make)
    assert not isinstance(answer, Symptom), answer


def test_the_end_that_is_missing_is_then_the_consequence() -> None:
    assert "resets-itself-inside-step" in find_check("episodes-never-end").explained_by


def episode(seen: list[float]) -> Episode:
    rows = np.array(seen)[:, None]
    n = len(rows) - 1
    flags = np.zeros(n, bool)
    return Episode(0, rows, tuple(range(n)), np.zeros((n, 1)), np.zeros(n), flags, flags)


@given(st.lists(st.floats(-5, 5, width=16), min_size=12, max_size=60), st.floats(0.1, 1.0))
@settings(max_examples=60, deadline=None)
def test_jumps_against_a_slow_twin(path: list[float], half: float) -> None:
    walk = [*path, *(x for _ in range(9) for x in (4.9, 0.0, 0.0))]
    starts = np.linspace(-half, half, 9)[:, None]
    low, high = -half * (1 + 2 * MARGIN_FRAC) - 1e-6 * half, half * (1 + 2 * MARGIN_FRAC) + 1e-6 * half
    moves = [(abs(b - a), not low <= a <= high and low <= b <= high) for a, b in pairwise(walk)]
    ordinary = float(np.quantile([m for m, entry in moves if not entry], ORDINARY_FRAC))
    reach = FARTHER * max(ordinary, 1e-9)
    seen = jumps_back(starts, [episode(walk)])
    if all(m <= ordinary for m, entry in moves if entry and m > reach) and 2 * half > 4 * ordinary:
        return  # an entry that went on as before: nothing is counted
    assert seen.jumps == sum(entry and m > reach for m, entry in moves)
    assert seen.far == sum(m > reach for m, _ in moves)
    assert seen.steps == len(moves)


def delayed(name: str, delay: int) -> Any:
    return lambda: gym.wrappers.DelayObservation(gym.make(name), delay)


@pytest.mark.parametrize("make", [delayed("CartPole-v1", 2), delayed("Pendulum-v1", 1), worlds.LateZeros])
def test_frames_before_a_late_observation_are_no_starts(make: Any) -> None:
    answer = look("starts-identical", make)
    assert not isinstance(answer, Symptom), answer


def test_one_start_behind_a_delay_is_still_one_start() -> None:
    one = look("starts-identical", lambda: gym.wrappers.DelayObservation(bad.FixedStart(), 2))
    assert isinstance(one, Symptom), one
