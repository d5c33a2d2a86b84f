"""Columns, regressors, transitions and the small statistics against slow twins."""

from __future__ import annotations

from collections import OrderedDict

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.preflight.environment.checks.action_clipped_inside_range import flat_ends
from firstbreak.preflight.environment.checks.return_scale_far_from_one import GAMMA, returns_to_go
from firstbreak.preflight.environment.columns import columns_of, columns_text, flat_bounds, name_of, robust_spread
from firstbreak.preflight.environment.fuzz import judge, programs, shorter
from firstbreak.preflight.environment.predictability import blocks_held_out, features, held_out_r2
from firstbreak.preflight.environment.repeats import repeated_steps, standstill
from firstbreak.preflight.environment.sweep import NoSweep, axis_values, sweep_of, with_value
from firstbreak.preflight.environment.transitions import action_columns, forecast_of, transitions_of
from tests.unit.preflight.environment.small_worlds import Drive, by_hand, changed, record


def test_robust_spread_is_the_standard_deviation_of_gaussian_data_and_ignores_a_few_wild_values():
    values = np.random.default_rng(0).normal(3, 2, (20_000, 1))
    values[:10] = 1e9
    assert robust_spread(values)[0] == pytest.approx(2, rel=0.03)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.floats(0.001, 1000))
def test_robust_spread_has_a_slow_twin_and_scales(values: list[float], factor: float):
    column = np.array(values)[:, None]
    ordered = sorted(values)

    def quantile(q: float) -> float:
        place = q * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    twin = (quantile(0.95) - quantile(0.05)) / 3.29
    assert robust_spread(column)[0] == pytest.approx(twin, rel=1e-9, abs=1e-6)
    assert robust_spread(factor * column)[0] == pytest.approx(factor * twin, rel=1e-6, abs=1e-3)


def test_columns_tell_constants_flags_and_measurements_apart():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    rows[:, 1] = 7.0
    rows[:, 2] = np.arange(200) % 2
    columns = columns_of(by_hand(rows))
    assert columns.constant.tolist() == [False, True, False]
    assert columns.continuous.tolist() == [True, False, False]


def test_bounds_of_nested_spaces_are_laid_side_by_side():
    box, two = gym.spaces.Box(-1, 2, (2,)), gym.spaces.Discrete(3)
    nested = gym.spaces.Dict(OrderedDict(a=box, b=two))
    low, high = flat_bounds(nested, 3)
    assert low.tolist() == [-1, -1, 0]
    assert high.tolist() == [2, 2, 2]
    low, high = flat_bounds(nested, 5)
    assert high.tolist() == [2, 2, 1, 1, 1]
    assert np.isinf(flat_bounds(nested, 9)[0]).all()
    assert flat_bounds(gym.spaces.MultiBinary(4), 4)[1].tolist() == [1, 1, 1, 1]


def test_names_and_lists_of_columns():
    world = by_hand(np.zeros((2, 3)))
    assert name_of(world, 2) == "observation[2]"
    assert columns_text(np.arange(2)) == "0, 1"
    assert columns_text(np.arange(9)) == "0, 1, 2, 3, 4, 5 and 3 more"


def test_r2_is_one_for_a_quadratic_law_none_for_noise_and_does_not_depend_on_scale():
    draw = np.random.default_rng(1)
    x = draw.normal(size=(900, 3))
    y = np.stack([x[:, 0] * x[:, 1] + 0.3 * x[:, 2], draw.normal(size=900), np.ones(900)], axis=1)
    held = blocks_held_out(900)
    law, noise, constant = held_out_r2(x, y, held)
    assert law > 0.99
    assert noise < 0.05
    assert np.isnan(constant)
    scaled = held_out_r2(x * [10, 1000, 0.1], y * 10, held)
    assert scaled[0] == pytest.approx(law, abs=1e-6)


def test_nearest_neighbours_find_what_is_not_smooth():
    draw = np.random.default_rng(2)
    x = draw.integers(0, 40, (900, 1)).astype(float)
    y = ((x * 7919) % 13)[:, :1]
    assert held_out_r2(np.concatenate([x, np.zeros_like(x)], axis=1), y, blocks_held_out(900))[0] > 0.9


def test_ridge_has_a_slow_twin():
    draw = np.random.default_rng(3)
    x, held = draw.normal(size=(300, 2)), blocks_held_out(300)
    y = np.sin(x[:, :1]) + 0.1 * draw.normal(size=(300, 1))
    centre, spread = x[~held].mean(0), x[~held].std(0)
    phi = features(np.clip((x - centre) / spread, -6, 6))
    target = (y - y[~held].mean()) / y[~held].std()
    wide = np.vstack([phi[~held], np.sqrt(1e-4 * (~held).sum()) * np.eye(phi.shape[1])])
    weights, *_ = np.linalg.lstsq(wide, np.concatenate([target[~held], np.zeros((phi.shape[1], 1))]), rcond=None)
    twin = 1 - ((target[held] - phi[held] @ weights) ** 2).mean() / target[held].var()
    assert held_out_r2(x, y, held)[0] >= twin - 1e-6


def test_held_out_blocks_are_about_a_third():
    held = blocks_held_out(1200)
    assert held.mean() == pytest.approx(1 / 3, abs=0.02)
    assert np.flatnonzero(np.diff(held.astype(int))).size < 40


def test_transitions_line_up():
    rows = np.arange(12.0)[:, None] ** 2
    t = transitions_of(by_hand(rows, np.arange(11.0), actions=np.arange(11) % 2))
    assert t.before[0, 0] == 0
    assert t.now[0, 0] == 1
    assert t.after[0, 0] == 4
    assert t.reward[0] == 1
    assert t.action_before[0].tolist() == [1, 0]
    assert t.action[0].tolist() == [0, 1]
    assert forecast_of(by_hand(rows)) is None


def test_discrete_actions_become_one_hot_and_others_stay():
    assert action_columns(np.array([[3.0], [2.0]]), gym.spaces.Discrete(2, start=2)).tolist() == [[0, 1], [1, 0]]
    box = gym.spaces.Box(-1, 1, (1,))
    assert action_columns(np.array([[0.5]]), box).tolist() == [[0.5]]


def test_repeats_leave_the_last_standstill_out():
    world = by_hand(np.array([[0], [1], [1], [2], [2], [2], [2]]))
    steps, marks = repeated_steps(world)
    assert steps == 6
    assert marks.tolist() == [False, True, False, False, False, False]
    assert standstill(world.episodes[0]) == 3


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=20))
def test_returns_to_go_have_a_slow_twin(rewards: list[float]):
    twin = [sum(r * GAMMA**k for k, r in enumerate(rewards[t:])) for t in range(len(rewards))]
    assert returns_to_go(np.array(rewards)) == pytest.approx(twin)


@given(st.integers(1, 60), st.integers(0, 59))
def test_shortening_finds_the_one_action_that_breaks(length: int, place: int):
    place %= length
    actions = list(range(length))
    assert shorter(actions, lambda some: place in some) == (place,)


def test_shortening_keeps_a_list_that_needs_all_its_actions():
    assert len(shorter(range(10), lambda some: len(some) >= 7)) == 7


def test_programs_stay_inside_bounds_and_push_unbounded_spaces():
    box = gym.spaces.Box(np.array([-1, 0], np.float32), np.array([2, 1], np.float32))
    assert all(box.contains(a) for program in programs(box, 5) for a in program)
    free = gym.spaces.Box(-np.inf, np.inf, (1,), np.float32)
    assert max(float(np.abs(a).max()) for program in programs(free, 5) for a in program) == 1e6
    assert all(
        gym.spaces.Discrete(3, start=1).contains(a) for p in programs(gym.spaces.Discrete(3, start=1)) for a in p
    )
    assert programs(gym.spaces.Text(3)) == []


def test_judging_names_the_first_bad_step():
    world = record(changed(Drive, pay=lambda s: float("nan") if s.t == 4 else 0.0), steps=60)
    broken = judge(world, [np.ones(2, np.float32)] * 9, 0)
    assert broken is not None
    assert broken.kind == "reward-not-finite"
    assert len(broken.actions) == 4


def test_sweep_moves_one_dimension_only_and_repeats_exactly():
    world = record(Drive, steps=300)
    sweep = sweep_of(world)
    assert not isinstance(sweep, NoSweep)
    assert sweep_of(world) is sweep
    # Forces act on their own axis only, one dt at a time: the change of vx over one step is dt times the force span.
    one = sweep.seen[:, 0, -1, 0] - sweep.seen[:, 0, 0, 0]
    assert one[:, 2] == pytest.approx(np.full(sweep.states, 0.2), abs=1e-6)
    assert (one[:, [1, 3]] == 0).all()
    assert flat_ends(sweep, 0) == (0.0, 0.0)


def test_axes_of_each_kind_of_space():
    axes = axis_values(gym.spaces.Box(-2, 2, (1,)))
    assert axes is not None
    assert axes[0].tolist() == [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2]
    many = axis_values(gym.spaces.MultiDiscrete([2, 3]))
    assert many is not None
    assert [a.max() for a in many] == [1, 2]
    assert axis_values(gym.spaces.Tuple([])) is None
    assert with_value(gym.spaces.MultiDiscrete([2, 3]), np.array([1, 2]), 1, 0.0).tolist() == [1, 0]


def test_no_sweep_where_seeds_do_not_repeat():
    world = record(changed(Drive, look=lambda s: np.random.default_rng().normal(size=4).astype(np.float32)), steps=50)
    answer = sweep_of(world)
    assert isinstance(answer, NoSweep)
    assert "repeat" in answer.reason
