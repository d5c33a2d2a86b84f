"""Wrappers and flags of real trainers: what is sound stays quiet, what is not is named."""

from __future__ import annotations

from typing import Any

import pytest

from firstbreak.check import Symptom
from firstbreak.errors import InputError
from firstbreak.finding import Severity
from tests.unit.preflight.environment import wrapped_worlds as worlds
from tests.unit.preflight.environment.test_contract_checks import look, world_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

FIRES = [
    ("state-leaks-between-episodes", worlds.leak_inside, None),
    ("wrapper-order", worlds.limit_outside, None),
    ("action-clipped-inside-range", worlds.clipped_unbounded, Severity.INFO),
    ("time-limit-as-terminated", worlds.BothFlags, None),
    ("starts-identical", worlds.OneSeed, Severity.WARNING),
    ("episodes-of-one-step", worlds.EndsAtOnce, Severity.WARNING),
    ("episodes-of-one-step", worlds.Bandit, Severity.INFO),
    ("exceptions-swallowed", worlds.Blank, Severity.WARNING),
]
QUIET = [
    ("reset-not-reproducible", worlds.normalised),
    ("state-leaks-between-episodes", worlds.normalised),
    ("starts-drift", worlds.normalised),
    ("wrapper-order", worlds.limit_inside),
    ("integer-type-matters", worlds.Rounds),
    ("resets-itself-inside-step", worlds.Blank),
]


@pytest.mark.parametrize(("name", "make", "severity"), FIRES)
def test_fires(name: str, make: Any, severity: Severity | None) -> None:
    found = look(name, make)
    assert isinstance(found, Symptom)
    assert found.severity is severity


@pytest.mark.parametrize(("name", "make"), QUIET)
def test_stays_quiet(name: str, make: Any) -> None:
    assert look(name, make) is None


def test_statistics_are_the_same_in_every_environment_made_and_do_not_move() -> None:
    world = world_of(worlds.normalised)
    assert world.facts["held_still"] == ("NormalizeReward", "NormalizeObservation")
    rows = [world.play(world.episodes[0].actions[:50], 0) for _ in range(2)]
    assert (rows[0].observations == rows[1].observations).all()
    assert (rows[0].rewards == rows[1].rewards).all()


def test_a_vector_environment_of_stable_baselines3_is_no_broken_single_one() -> None:
    from stable_baselines3.common.env_util import make_vec_env

    with pytest.raises(InputError, match="several environments at once"):
        world_of(lambda: make_vec_env("CartPole-v1", n_envs=2))


def test_a_torchrl_environment_of_several_is_no_broken_single_one() -> None:
    from torchrl.envs import GymEnv, SerialEnv

    with pytest.raises(InputError, match="several environments at once"):
        world_of(lambda: SerialEnv(2, lambda: GymEnv("CartPole-v1")))
