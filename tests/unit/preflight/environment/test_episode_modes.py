"""Signs and strengths of actions that are drawn at reset and not observed."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from firstbreak.check import LONGEST_MESSAGE, Look, find_check, look_at
from firstbreak.preflight.environment.episode_modes import slopes
from tests.unit.preflight.environment.small_worlds import record


class Cart(gym.Env[Any, Any]):
    """A cart pushed by the action times a factor of the episode."""

    def __init__(self, draw: Any, *, shown: bool = False, noise: float = 0.0, discrete: bool = False) -> None:
        self.draw, self.shown, self.noise, self.discrete = draw, shown, noise, discrete
        self.observation_space = gym.spaces.Box(-99, 99, (2 + shown,), np.float32)
        self.action_space = gym.spaces.Discrete(3) if discrete else gym.spaces.Box(-1, 1, (1,), np.float32)

    def _see(self) -> Any:
        return np.array([self.place, self.speed, *[self.factor] * self.shown], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place, self.speed, self.t = float(self.np_random.uniform(-1, 1)), 0.0, 0
        self.factor = float(self.draw(self.np_random))
        return self._see(), {}

    def step(self, action: Any) -> Any:
        push = float(action) - 1 if self.discrete else float(action[0])
        self.speed = 0.9 * self.speed + 0.2 * self.factor * push + self.noise * float(self.np_random.normal())
        self.place += 0.1 * self.speed
        self.t += 1
        return self._see(), -abs(self.place), False, self.t >= 60, {}


def sign(random: Any) -> float:
    return float(random.choice([-1.0, 1.0]))


def one(random: Any) -> float:
    return 1.0


def nearly_one(random: Any) -> float:
    return float(random.uniform(0.9, 1.1))


class Turned(gym.Wrapper[Any, Any, Any, Any]):
    """Pendulum whose torque has a hidden sign."""

    def reset(self, **options: Any) -> Any:
        found = super().reset(**options)
        self.sign = sign(self.unwrapped.np_random)
        return found

    def step(self, action: Any) -> Any:
        return super().step(self.sign * action)


def put(make: Any, steps: int = 3000) -> Look:
    return look_at(find_check("hidden-state"), record(make, steps=steps, most=3000, limit=None))


@pytest.mark.parametrize(
    "make",
    [
        partial(Cart, sign),
        partial(Cart, sign, noise=0.03),
        partial(Cart, sign, discrete=True),
        lambda: Turned(gym.make("Pendulum-v1")),
    ],
    ids=["sign", "noisy sign", "discrete", "pendulum"],
)
def test_a_hidden_sign_is_hidden_state(make: Any) -> None:
    found = put(make)
    assert not found.error
    assert found.symptom is not None
    assert "in other episodes" in found.symptom.message
    assert len(found.symptom.message) <= LONGEST_MESSAGE


@pytest.mark.parametrize(
    "make",
    [
        partial(Cart, one),
        partial(Cart, one, noise=0.03),
        partial(Cart, one, noise=0.3),
        partial(Cart, sign, shown=True),
        partial(Cart, nearly_one),
        lambda: gym.make("Pendulum-v1"),
    ],
    ids=["none", "noise", "much noise", "shown", "a tenth more or less", "pendulum"],
)
def test_worlds_without_one_or_that_show_it_are_quiet(make: Any) -> None:
    found = put(make)
    assert not found.error
    assert found.symptom is None, found.symptom


def test_few_episodes_are_too_few_to_tell() -> None:
    assert put(partial(Cart, sign), steps=400).symptom is None


def test_slopes_against_a_slow_twin() -> None:
    random = np.random.default_rng(0)
    change, action = random.normal(size=(9, 2)), np.concatenate([random.normal(size=(9, 2)), np.ones((9, 1))], axis=1)
    found = slopes(change, action)
    for j in range(2):
        for k in range(2):
            assert found[j, k] == pytest.approx(np.polyfit(action[:, k], change[:, j], 1)[0])
        assert found[j, 2] == 0.0
