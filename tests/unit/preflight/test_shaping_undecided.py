"""Shaping of unknown potential on Gymnasium's continuous states: proven, refuted, or not to be told."""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium
import numpy as np
import pytest

from firstbreak.preflight.shaping import check_term

GAMMA = 0.99
WORLDS = ("Pendulum-v1", "MountainCarContinuous-v0", "CartPole-v1")


@cache
def played(name: str, steps: int = 4000) -> tuple[Any, ...]:
    env: Any = gymnasium.make(name, max_episode_steps=100)
    found: list[Any] = []
    env.action_space.seed(0)
    state, _ = env.reset(seed=0)
    for _ in range(steps):
        action = env.action_space.sample()
        after, _, over, cut, _ = env.step(action)
        found.append((np.array(state, float), action, np.array(after, float), bool(over), bool(cut and not over)))
        state = env.reset()[0] if over or cut else after
    env.close()
    return tuple(found)


def energy(s: Any) -> float:
    return -3.0 - float(s[0] ** 2 + 0.5 * s[1] ** 2)


def right(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
    return GAMMA * (0.0 if over else energy(n)) - energy(s)


@pytest.mark.parametrize("name", WORLDS)
def test_a_true_potential_is_proven(name: str) -> None:
    found = check_term(right, played(name), GAMMA, endless=True)
    assert found.sound is True, (found.undecided, found.faults)
    assert "held-out" in found.tested


@pytest.mark.parametrize("name", WORLDS)
def test_pay_for_the_action_is_refuted(name: str) -> None:
    found = check_term(lambda *s: right(*s) + 0.1 * float(np.abs(s[1]).sum()), played(name), GAMMA, endless=True)
    assert found.sound is False
    assert [f.name for f in found.faults] == ["depends-on-action"]


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("bonus", [1e-4, 1e-6])
def test_a_bonus_below_the_tolerance_is_refuted_where_the_action_explains_it(name: str, bonus: float) -> None:
    found = check_term(lambda *s: right(*s) + bonus * float(np.abs(s[1]).sum()), played(name), GAMMA, endless=True)
    assert [f.name for f in found.faults] == ["depends-on-action"]


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("kind", ["speed", "near the goal", "rough", "dynamic"])
def test_what_is_not_proven_is_never_called_sound(name: str, kind: str) -> None:
    def term(s: Any, a: Any, n: Any, over: bool, cut: bool, t: int) -> float:
        if kind == "speed":
            return float(abs(n[-1]) * abs(s[-1]) ** 0.5)
        if kind == "near the goal":
            return float(n[0] > 0.4)
        if kind == "rough":
            return GAMMA * float(np.sin(900 * n[0])) - float(np.sin(900 * s[0]))
        grown = 0.0 if over else (1 + (t + 1) / 20) * energy(n)
        return GAMMA * grown - (1 + t / 20) * energy(s)

    found = check_term(term, played(name), GAMMA, endless=True)
    if kind in ("rough", "dynamic"):
        assert found.sound is None
        assert found.undecided
    else:
        assert found.sound is not True


def test_ends_that_were_not_seen_are_not_called_sound() -> None:
    found = check_term(right, played("Pendulum-v1"), GAMMA)
    assert found.sound is None
    assert "true end" in found.undecided


def test_pay_for_surviving_is_found_at_the_true_ends() -> None:
    found = check_term(lambda *s: right(*s) + 1.0, played("CartPole-v1"), GAMMA)
    assert [f.name for f in found.faults] == ["terminal-potential-kept"]


def test_a_term_that_never_pays_says_nothing() -> None:
    assert check_term(lambda *s: 0.0, played("Pendulum-v1"), GAMMA).sound is None
