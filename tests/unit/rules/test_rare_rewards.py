"""`reward-redefined` where a reward is rare: it may only not have occurred, for all rewards or for one part of them."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.registry import find_rule
from firstbreak.series import Floats

PART = "reward/component"


def share(t: Floats, at: float, values: int) -> Floats:
    return (1 + np.floor(97 * t) % 3) / values * (t < at)


def fires(rows: dict[str, synth.Shape], algorithm: str = "GRPO") -> bool:
    (outcome,) = run_rules(synth.like(algorithm)(rows), [find_rule("reward-redefined")])
    return bool(outcome.findings)


@pytest.mark.parametrize(("at", "fired"), [(0.98, False), (0.6, True)])
def test_a_part_that_pays_now_and_then_is_missed_after_a_while(at: float, fired: bool) -> None:
    def spread(t: Floats, _: object) -> Floats:
        p = share(t, at, 64)
        return np.sqrt(p * (1 - p))

    assert fires({f"{PART}@bonus": lambda t, _: share(t, at, 64), f"{PART}_std@bonus": spread}) is fired


def test_a_part_that_paid_half_of_all_is_missed_at_once() -> None:
    def half(t: Floats) -> Floats:
        return (31 + np.floor(97 * t) % 3) / 64 * (t < 0.98)

    def spread(t: Floats, _: object) -> Floats:
        return np.sqrt(half(t) * (1 - half(t)))

    assert fires({f"{PART}@right": lambda t, _: half(t), f"{PART}_std@right": spread})


T = np.linspace(0.0, 1.0, 4001)


def paid(cost: float, goal: Floats, much: Floats) -> dict[str, synth.Shape]:
    """Rewards of 64 steps a row: `cost` each, or `much` [n] where a goal is reached, by a share `goal` [n]."""
    p, apart = goal, much - cost
    return {
        "reward/env_mean": lambda t, _: cost + np.interp(t, T, p * apart),
        "reward/env_std": lambda t, _: np.interp(t, T, np.sqrt(p * (1 - p)) * abs(apart)),
        "reward/env_min": synth.constant(cost),
        "reward/env_max": lambda t, _: np.interp(t, T, np.where(p > 0, much, cost)),
    }


@pytest.mark.parametrize("cost", [-0.01, -0.001, 0.0])
def test_a_goal_that_is_reached_for_the_first_time_is_no_other_reward(cost: float) -> None:
    goal = (1 + np.floor(97 * T) % 3) / 64 * (T > 0.4)
    assert not fires(paid(cost, goal, np.ones_like(T)), "PPO")


def test_a_goal_that_was_always_rare_and_pays_a_hundred_times_as_much_is() -> None:
    goal = (1 + np.floor(97 * T) % 3) / 64
    assert fires(paid(0.0, goal, np.where(T > 0.6, 100.0, 1.0)), "PPO")


def test_a_few_steps_of_noise_before_a_first_goal_say_nothing_of_the_scale() -> None:
    goal = (1 + np.floor(97 * T) % 3) / 64 * (T > 0.4)
    rows = paid(0.0, goal, np.ones_like(T))
    odd = {
        "reward/env_mean": -0.001,
        "reward/env_std": 0.008,
        "reward/env_min": -0.067,
        "reward/env_max": 0.0,
    }
    assert not fires({k: (lambda t, r, k=k: np.where(t < 0.02, odd[k], rows[k](t, r))) for k in odd}, "PPO")


@pytest.mark.parametrize(("at", "fired"), [(0.98, False), (0.6, True)])
def test_a_rare_goal_is_missed_after_a_while(at: float, fired: bool) -> None:
    goal = (1 + np.floor(97 * T) % 3) / 64 * (at > T)
    rows = paid(-0.04, goal, np.ones_like(T))
    assert fires({k: v for k, v in rows.items() if k != "reward/env_max"}, "PPO") is fired
