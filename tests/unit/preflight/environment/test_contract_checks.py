"""Each check of contract, seeding, isolation and vector environments: what fires it, and what is near and harmless."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from firstbreak.check import Answer, Symptom, find_check
from firstbreak.finding import Severity
from firstbreak.preflight.environment.budget import Budget
from firstbreak.preflight.environment.guarding import guarded_source
from firstbreak.preflight.environment.recording import build_world
from firstbreak.preflight.environment.world import World
from tests.unit.preflight.environment import contract_worlds as bad
from tests.unit.preflight.environment.small_worlds import Drive, Grid, Table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # Gymnasium warns of steps after an end

SMALL = Budget(seconds=20.0, steps=1200, episodes=30)


def world_of(make: Any) -> World:
    source, facts = guarded_source(make)
    world = build_world(source, budget=SMALL)
    world.facts |= facts
    return world


def look(name: str, make: Any) -> Answer:
    return find_check(name).look(world_of(make))


FIRES = [
    ("reset-or-step-malformed", bad.FourValues, "4"),
    ("observation-of-wrong-form", bad.ShapeAt30, "(5,)"),
    ("observation-of-wrong-form", bad.ListAt30, "list"),
    ("observation-of-wrong-dtype", bad.DoubleAlways, "float64"),
    ("observation-out-of-bounds", bad.OutOfBounds, "step 61"),
    ("reward-not-a-number", bad.RewardArray, "(1,)"),
    ("end-flag-not-boolean", bad.FlagsAsInts, "int"),
    ("info-not-a-dict", bad.InfoNone, "step 20"),
    ("environment-raises", bad.RaisesOnPair, "2 actions suffice"),
    ("integer-type-matters", bad.NumpyMisread, "step"),
    ("global-rng-decides", bad.GlobalStart, "numpy.random"),
    ("global-rng-decides", bad.GlobalWind, "random"),
    ("step-not-reproducible", bad.ClockAfter80, "step 81"),
    ("reset-not-reproducible", bad.SeedsOnce, "first seed"),
    ("state-leaks-between-episodes", bad.KeepsVelocity, "first observation"),
    ("starts-drift", bad.ShrinkingStart, "resets"),
    ("starts-identical", bad.FixedStart, "randomize"),
    ("copies-identical", bad.SameWithoutSeed, "start alike"),
    ("observation-reused", bad.OneBuffer, "step"),
    ("action-overwritten", bad.WritesAction, "action["),
    ("exceptions-swallowed", bad.Swallows, "ValueError"),
    ("global-rng-reseeded", bad.Reseeds, "numpy.random"),
    ("global-state-changed", bad.ChangesProcess, "FIRSTBREAK_TEST"),
    ("global-state-changed", bad.Silences, "warnings"),
    ("environment-prints", bad.Prints, "bytes"),
    ("memory-grows", bad.Leaks, "MB"),
    ("close-raises", bad.CloseRaises, "ZeroDivisionError"),
    ("resets-itself-inside-step", bad.ResetsItself, "starts"),
    ("end-flag-lost", bad.merged, "truncated as terminated"),
    ("end-flag-lost", bad.repeated, "steps on"),
    ("wrapper-order", bad.clipped_inside, "cuts"),
    ("end-without-time-limit-flag", bad.OldDrive, "done"),
    ("action-not-rescaled", lambda: bad.unscaled(-1, 1), "takes -2 to 2"),
    ("other-agent-malformed", bad.SecondUnseen, "step 30"),
    ("other-agent-malformed", bad.SecondUnpaid, "reward of agent two is NoneType"),
]
QUIET = [
    ("copies-identical", bad.TwoPlaces),
    ("action-not-rescaled", lambda: bad.unscaled(-1.5, 1.5)),
    ("action-not-rescaled", lambda: gym.wrappers.RescaleAction(gym.make("Pendulum-v1"), -1.0, 1.0)),
    ("action-not-rescaled", lambda: gym.make("Pendulum-v1")),
    ("other-agent-malformed", bad.TwoAgents),
    ("other-agent-malformed", bad.SecondGone),
    ("agent-left-out", bad.SecondGone),
    ("observation-out-of-bounds", bad.AtTheBound),
    ("reward-not-a-number", bad.RewardNumpy),
    ("end-flag-not-boolean", bad.FlagsNumpy),
    ("global-rng-decides", bad.OwnWind),
    ("step-not-reproducible", bad.OwnWind),
    ("reset-not-reproducible", bad.KeepsVelocity),
    ("observation-reused", bad.BufferCopied),
    ("end-flag-lost", bad.repeated_well),
    ("environment-prints", bad.PrintsOnce),
    ("end-without-time-limit-flag", bad.OldTelling),
]


@pytest.mark.parametrize(("name", "make", "words"), FIRES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_the_check_fires_and_says_why(name: str, make: Any, words: str) -> None:
    answer = look(name, make)
    assert isinstance(answer, Symptom), answer
    assert words in answer.message, answer.message
    assert len(answer.message) <= 120
    assert any(c.isdigit() for c in answer.message)


def test_fresh_environments_that_begin_alike_by_chance_are_no_copies() -> None:
    """Three starts of five share a cell, so eight alike are a coincidence; with starts of their own four are none."""
    from firstbreak.preflight.environment.starts import Starts

    def alike(seeds: list[float], unseeded: list[float]) -> bool:
        rows = [np.array([[x] for x in values]) for values in (seeds, unseeded)]
        one, none = np.zeros(1), np.zeros((0, 0))
        return Starts(0, one, one, one, rows[0], rows[1], none, 0).unseeded_alike

    assert alike([1.0, 2.0, 3.0, 4.0], [7.0] * 4)
    assert not alike([1.0, 2.0, 3.0, 4.0], [7.0, 7.0, 7.0, 8.0])
    assert not alike([0.0, 1.0, 0.0, 1.0], [0.0] * 6)


@pytest.mark.parametrize(("name", "make"), QUIET, ids=lambda v: getattr(v, "__name__", str(v)))
def test_the_check_is_quiet_on_what_only_looks_alike(name: str, make: Any) -> None:
    answer = look(name, make)
    fires = isinstance(answer, Symptom) and (answer.severity or find_check(name).severity) is not Severity.INFO
    assert not fires, answer


@pytest.mark.parametrize("make", [Drive, Grid, Table, lambda: gym.make("CartPole-v1")])
def test_healthy_environments_fire_none_of_these_checks(make: Any) -> None:
    world = world_of(make)
    for name in sorted({n for n, *_ in FIRES}):
        answer = find_check(name).look(world)
        assert not isinstance(answer, Symptom), (name, answer)


def test_a_declared_fixed_start_is_a_note() -> None:
    answer = look("starts-identical", bad.DeclaredStart)
    assert isinstance(answer, Symptom)
    assert answer.severity is Severity.INFO


class Unreset(gym.vector.SyncVectorEnv):
    """Finished copies stay as they are."""

    def step(self, actions: Any) -> Any:
        self._autoreset_envs[:] = False
        return super().step(actions)


class OneSeed(gym.vector.SyncVectorEnv):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=[seed] * self.num_envs if isinstance(seed, int) else seed, options=options)


class Shared(gym.vector.SyncVectorEnv):
    """Every row shows copy 0."""

    def step(self, actions: Any) -> Any:
        seen, *rest = super().step(actions)
        seen[:] = seen[0]
        return seen, *rest


class Misdeclared(gym.vector.SyncVectorEnv):
    def __init__(self, makers: Any) -> None:
        super().__init__(makers)
        self.metadata = {**self.metadata, "autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}


class NoFinal(gym.vector.SyncVectorEnv):
    def __init__(self, makers: Any) -> None:
        super().__init__(makers, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)

    def step(self, actions: Any) -> Any:
        *rest, info = super().step(actions)
        return *rest, {k: v for k, v in info.items() if "final" not in k}


def cartpole() -> Any:
    return gym.make("CartPole-v1", disable_env_checker=True)


VECTORS = [
    ("copies-identical", OneSeed),
    ("copies-share-one-observation", Shared),
    ("autoreset-not-as-declared", Misdeclared),
    ("final-observation-lost", NoFinal),
    ("autoreset-missing", Unreset),
]


@pytest.mark.parametrize(("name", "kind"), VECTORS, ids=lambda v: getattr(v, "__name__", str(v)))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_broken_vector_environments_are_named(name: str, kind: Any) -> None:
    answer = look(name, lambda: kind([cartpole] * 4))
    assert isinstance(answer, Symptom), answer


@pytest.mark.parametrize("mode", list(gym.vector.AutoresetMode))
def test_vector_environments_of_gymnasium_are_quiet_in_every_mode(mode: Any) -> None:
    world = world_of(lambda: gym.vector.SyncVectorEnv([cartpole] * 4, autoreset_mode=mode))
    assert world.kind == "vector"
    for name, _ in VECTORS:
        answer = find_check(name).look(world)
        assert not isinstance(answer, Symptom), (name, answer)
