"""Checks on goals that are not seen, counters that run on and agents that are left behind."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from firstbreak.check import Answer, Symptom, find_check
from firstbreak.preflight.environment.budget import Budget
from firstbreak.preflight.environment.guarding import guarded_source
from firstbreak.preflight.environment.recording import build_world
from firstbreak.preflight.environment.world import World
from tests.unit.preflight.environment import hidden_worlds as hidden
from tests.unit.preflight.environment.small_worlds import Drive, Table

LONG = Budget(seconds=30.0, steps=6000, episodes=40)
"""Enough long episodes for a model of each."""


def world_of(make: Any) -> World:
    source, facts = guarded_source(make)
    world = build_world(source, budget=LONG)
    world.facts |= facts
    return world


def look(name: str, make: Any) -> Answer:
    return find_check(name).look(world_of(make))


FIRES = [
    ("reward-differs-by-episode", hidden.GoalUnseen, "hidden goal"),
    ("reset-observation-differs", hidden.GoalOfLastEpisode, "reset returned another"),
    ("limit-counts-past-episodes", hidden.CountsOn, "not after 60"),
    ("other-agent-never-ends", hidden.left_alone, "agent right"),
]
QUIET = [
    ("reward-differs-by-episode", hidden.ToGoal),
    ("reward-differs-by-episode", hidden.OffsetUnseen),
    ("reward-differs-by-episode", lambda: gym.make("Pendulum-v1")),
    ("reset-observation-differs", hidden.ToGoal),
    ("reset-observation-differs", hidden.FillerInReset),
    ("limit-counts-past-episodes", hidden.CountsAnew),
    ("limit-counts-past-episodes", lambda: gym.make("Pendulum-v1")),
    ("other-agent-never-ends", hidden.leaves_later),
    ("zero-action-drift", hidden.Timed),
]


@pytest.mark.parametrize(("name", "make", "words"), FIRES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_the_check_fires_and_says_why(name: str, make: Any, words: str) -> None:
    answer = look(name, make)
    assert isinstance(answer, Symptom), answer
    assert words in answer.message
    assert len(answer.message) <= 120


@pytest.mark.parametrize(("name", "make"), QUIET, ids=lambda v: getattr(v, "__name__", str(v)))
def test_the_check_is_quiet_on_what_only_looks_alike(name: str, make: Any) -> None:
    assert not isinstance(look(name, make), Symptom)


@pytest.mark.parametrize("make", [Drive, Table, lambda: gym.make("CartPole-v1")])
def test_healthy_environments_fire_none_of_these_checks(make: Any) -> None:
    world = world_of(make)
    for name in sorted({n for n, *_ in FIRES}):
        assert not isinstance(find_check(name).look(world), Symptom), name


def test_a_very_long_episode_is_played_to_its_end_where_steps_are_cheap() -> None:
    class Long(Table):
        limit = 20_000

    assert not isinstance(look("episodes-never-end", Long), Symptom)


def test_a_vector_whose_every_state_is_like_a_start_is_not_judged_by_its_starts() -> None:
    from tests.preflight.later.contracts import Duel

    def duels() -> Any:
        return gym.vector.SyncVectorEnv([Duel] * 5, autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP)

    assert not isinstance(look("autoreset-not-as-declared", duels), Symptom)
