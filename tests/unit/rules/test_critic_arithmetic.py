"""The arithmetic behind the critic's rules, and logs of a few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.engine import Ending, Outcome, run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.rules.critic.explained_variance_negative import at_best, informative, rolling_median
from firstbreak.rules.critic.q_divergence import growth
from firstbreak.rules.critic.q_exceeds_return import attainable
from firstbreak.rules.critic.q_over_bound import entropy_bonus, largest_reward
from firstbreak.rules.critic.value_loss_explosion import return_growth
from firstbreak.runlog import RunLog
from firstbreak.series import Curve, Series
from firstbreak.view import RunView

RETURN = "reward/episode_return_mean"


def log(rows: Mapping[str, Sequence[float]], algorithm: str = "", **config: Any) -> RunLog:
    series = tuple(Series(k, Curve(np.arange(1.0, len(v) + 1), np.asarray(v, dtype=float))) for k, v in rows.items())
    return RunLog("here", series, algorithm=algorithm, clock="updates", config=config)


def judge(name: str, rows: Mapping[str, Sequence[float]], algorithm: str = "", **config: Any) -> Outcome:
    outcome = run_rules(log(rows, algorithm, **config), [find_rule(name)])[0]
    assert outcome.status is not Ending.ERROR, outcome.reason
    return outcome


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(1, 12))
def test_rolling_median_is_that_of_each_window(values: list[float], width: int) -> None:
    array = np.array(values)
    slow = [float(np.median(array[i : i + width])) for i in range(len(values) - width + 1)]
    assert rolling_median(array, width).tolist() == pytest.approx(slow or [float(np.median(array))])


def test_rows_with_a_tiny_loss_are_not_informative() -> None:
    loss = [60.0] * 10 + [0.05] * 10
    view = RunView(log({"critic/explained_variance": [0.5] * 20, "critic/loss": loss}))
    points = view.get("critic/explained_variance")
    assert points is not None
    assert informative(view, points).tolist() == [True] * 10 + [False] * 10


def test_at_best_follows_the_level_not_the_last_point() -> None:
    rising = list(np.linspace(0, 100, 40))
    assert at_best(RunView(log({RETURN: [*rising, 20.0]})))
    assert not at_best(RunView(log({RETURN: [*rising, *[20.0] * 10]})))
    assert not at_best(RunView(log({RETURN: [5.0] * 40})))


def test_growth_counts_powers_of_ten() -> None:
    total, late = growth(np.geomspace(1e-2, 1e4, 61), 1)
    assert total == pytest.approx(6, abs=0.01)
    assert late == pytest.approx(3, abs=0.15)


@pytest.mark.parametrize(
    ("returns", "grown"), [([10] * 8 + [500], 50.0), ([-1000] * 8 + [-200], 1.0), ([0.0] * 8 + [1], float("inf"))]
)
def test_growth_of_returns(returns: list[float], grown: float) -> None:
    assert return_growth(RunView(log({RETURN: returns})), 8) == grown


def test_a_steady_reward_reaches_its_bound_and_no_more() -> None:
    exact = {"critic/q_mean": [100.0] * 20}
    assert judge("q-over-bound", exact, gamma=0.99, reward_min=0.0, reward_max=1.0).status is Ending.CLEAR
    beyond = {"critic/q_mean": [160.0] * 20}
    assert judge("q-over-bound", beyond, gamma=0.99, reward_min=0.0, reward_max=1.0).status is Ending.FIRED
    assert judge("q-over-bound", beyond, gamma=0.99).status is Ending.SKIPPED
    assert judge("q-over-bound", beyond, gamma=1.0, reward_min=0.0, reward_max=1.0).status is Ending.SKIPPED


def test_one_end_of_the_reward_is_no_bound() -> None:
    assert largest_reward(RunView(log({"critic/q_mean": [1.0]}, reward_max=1.0))) is None
    both = log({"critic/q_mean": [1.0]}, reward_max=1.0, reward_min=-3.0, reward_scale=10)
    assert largest_reward(RunView(both)) == (30.0, True)
    assert largest_reward(RunView(log({"reward/step_max": [1.0, 2.0], "reward/step_mean": [0.1, -0.1]}))) is None
    paid = {"reward/env_min": [-3.0, -16.0], "reward/env_max": [-0.1, 2.0]}
    assert largest_reward(RunView(log(paid))) == (16.0, False)
    assert largest_reward(RunView(log({"reward/env_min": [0.0], "reward/env_max": [0.0]}))) is None


def test_the_entropy_bonus_is_alpha_times_entropy_over_the_horizon() -> None:
    view = RunView(log({"sac/alpha": [0.5, 0.2], "policy/entropy": [-3.0, 1.0]}))
    assert entropy_bonus(view, 0.9, 20.0) == pytest.approx(0.5 * 3 / 0.1)
    assert entropy_bonus(RunView(log({"critic/q_mean": [1.0]})), 0.9, 20.0) == 0.0


def test_attainable_return_looks_past_a_time_limit() -> None:
    short = {RETURN: [20.0], "episode/length_mean": [20.0]}
    assert attainable(RunView(log(short)), 0.99) == pytest.approx(100.0)
    long = {RETURN: [500.0], "episode/length_mean": [500.0]}
    assert attainable(RunView(log(long)), 0.99) == pytest.approx(500.0)
    assert attainable(RunView(log({"critic/q_mean": [1.0]})), 0.99) is None


def test_a_solved_run_of_24_rows_is_not_called_broken() -> None:
    ev = [-0.002, 0.03, 0.1, 0.27, 0.4, 0.48, 0.8, 0.7, 0.62, 0.97, 0.6, 0.59, 0.54, 0.7, 0.88, 0.46, 0.3, 0.22, 0.02]
    ev += [0.02, 0.021, -0.06, -0.05, -0.049]
    loss = [62.0, 42, 50, 61, 61, 61, 34, 50, 61, 10, 20, 21, 29, 28, 28, 1, 0.6, 0.5, 0.2, 0.2, 0.14, 0.1, 0.05, 0.02]
    rows = {"critic/explained_variance": ev, "critic/loss": loss, RETURN: list(np.linspace(25, 393, 24))}
    for name in ("explained-variance-negative", "explained-variance-collapse", "value-loss-explosion"):
        assert judge(name, rows, "PPO").status is not Ending.FIRED


def test_single_rows_of_absurd_size() -> None:
    outcome = judge("q-divergence", {"critic/loss": [1e19]}, "SAC")
    assert outcome.findings[0].severity is Severity.ERROR
    assert judge("q-divergence", {"critic/loss": [2.5e7]}, "SAC").status is Ending.CLEAR
    assert judge("q-divergence", {"critic/q_mean": [3e7]}, "SAC").findings[0].severity is Severity.WARNING
    assert judge("q-divergence", {"critic/q_mean": [3e7], RETURN: [3e6]}, "SAC").status is Ending.CLEAR


def test_a_dead_critic_in_four_rows() -> None:
    dead = {"optim/critic_grad_norm": [0.0] * 4}
    assert judge("critic-frozen", dead, "SAC").findings[0].severity is Severity.WARNING
    assert judge("critic-frozen", {**dead, "critic/loss": [2.0] * 4}, "SAC").findings[0].severity is Severity.ERROR
    assert judge("critic-frozen", {**dead, "critic/loss": [0.0] * 4}, "SAC").status is Ending.CLEAR
    assert judge("critic-frozen", {"optim/critic_grad_norm": [0.0, 0.0]}, "SAC").status is Ending.CLEAR
