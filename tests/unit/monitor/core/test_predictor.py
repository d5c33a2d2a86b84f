"""The predictor against ordinary ridge regression on all rows with weights written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.exchange.held import done
from firstbreak.monitor.exchange.predictor import (
    FEW_FAR,
    LEAST_UNEXPLAINED,
    MEMORY,
    MOST_FAR,
    QUANTILE,
    RIDGE,
    USUAL,
    Predictor,
)
from firstbreak.monitor.exchange.transitions import MOST_CHOICES, expanded, slopes_of


def slow(rows: list[tuple[np.ndarray, np.ndarray]]) -> list[float | None]:
    """Every row by itself: weights, slopes and spreads from all rows before, then the usual error so far."""
    found: list[float | None] = []
    usual = float("nan")
    for place, (x, y) in enumerate(rows):
        before = rows[:place]
        weight = np.concatenate([[MEMORY ** (place - 1 - i)] * len(r[0]) for i, r in enumerate(before)] or [[]])
        if weight.sum() < 2 * (x.shape[1] + 1):
            found.append(None)
            continue
        inputs = np.concatenate([np.c_[np.ones(len(r[0])), r[0]] for r in before])
        targets = np.concatenate([r[1] for r in before])
        gram = (inputs * weight[:, None]).T @ inputs
        held = gram + np.diag(RIDGE * np.diag(gram) + 1e-12 * weight.sum())
        slopes = np.linalg.inv(held) @ (inputs * weight[:, None]).T @ targets
        mean = np.average(targets, axis=0, weights=weight)
        spread = np.sqrt(np.maximum(np.average(targets**2, axis=0, weights=weight) - mean**2, 0))
        size = np.maximum(spread, 1e-9 + 1e-3 * np.abs(mean))
        steps = [np.sqrt(np.mean(((b - np.r_[1, a] @ slopes) / size) ** 2)) for a, b in zip(x, y, strict=True)]
        now = float(np.quantile(steps, QUANTILE))
        if np.isnan(usual):
            usual = max(now, LEAST_UNEXPLAINED)
            found.append(None)
            continue
        found.append(now / max(usual, LEAST_UNEXPLAINED))
        usual = USUAL * usual + (1 - USUAL) * min(now, 3 * usual)
    return found


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.integers(1, 4), st.integers(1, 3), st.floats(0.01, 100.0))
def test_it_is_weighted_ridge_regression(seed: int, inputs: int, targets: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(inputs, targets)) * scale
    rows = []
    for _ in range(6):
        x = rng.normal(size=(20, inputs))
        rows.append((x, x @ true + 0.3 * scale * rng.normal(size=(20, targets))))
    predictor = Predictor(inputs, targets)
    for (x, y), expected in zip(rows, slow(rows), strict=True):
        assert predictor.surprise(x, y) == (None if expected is None else pytest.approx(expected, rel=1e-6))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.floats(0.001, 1000.0), st.floats(0.001, 1000.0))
def test_units_of_inputs_and_targets_do_not_matter(seed: int, a: float, b: float) -> None:
    rng = np.random.default_rng(seed)
    plain, scaled = Predictor(2, 1), Predictor(2, 1)
    for _ in range(5):
        x, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
        one, other = plain.surprise(x, y), scaled.surprise(a * x, b * y)
        assert (one is None) == (other is None)
        assert one is None or one == pytest.approx(other, rel=1e-3)


def test_rare_events_do_not_count_and_a_change_does() -> None:
    rng = np.random.default_rng(0)
    predictor = Predictor(2, 1)

    def row(rare: bool = False, sign: float = 1.0) -> float | None:
        x = rng.normal(size=(64, 2))
        y = sign * x[:, :1] + 0.1 * rng.normal(size=(64, 1))
        if rare:
            y[:8] -= 10.0
        return predictor.surprise(x, y)

    for _ in range(12):
        row()
    assert (row(rare=True) or 99) < 3
    for _ in range(30):
        row()
    assert (row(sign=-1.0) or 0) > 5


def test_a_row_that_is_not_finite_is_passed_over() -> None:
    predictor = Predictor(1, 1)
    assert predictor.surprise(np.ones((8, 1)), np.full((8, 1), np.nan)) is None
    assert predictor.weight == 0


def test_discrete_actions_are_places_and_others_numbers() -> None:
    found = done([np.int64(2), np.int64(0)])
    assert found is not None
    assert found.sum() == found[0, 2] + found[1, 0] == 2
    np.testing.assert_array_equal(done([np.array([0.5, -1.0])]), [[0.5, -1.0]])
    np.testing.assert_array_equal(done([np.array(99)]), [[99.0]])


def test_small_observations_are_multiplied_with_one_another() -> None:
    before, action = np.array([[2.0, 3.0]]), np.array([[5.0]])
    np.testing.assert_array_equal(expanded(before, action), [[2, 3, 5, 25, 4, 6, 9]])
    choice = np.eye(1, MOST_CHOICES)
    assert expanded(np.ones((1, 8)), choice).shape == (1, 8 + MOST_CHOICES + 36)  # no squares of a choice
    assert expanded(np.ones((1, 10)), choice).shape == (1, 10 + MOST_CHOICES + 10)  # products do not fit, squares do
    assert expanded(np.ones((1, 30)), np.ones((1, 6))).shape == (1, 72)
    assert expanded(np.ones((1, 60)), np.ones((1, 4))).shape == (1, 68)


def test_the_effect_of_actions_is_unknown_where_they_follow_from_the_observation() -> None:
    rng = np.random.default_rng(0)
    before = rng.normal(size=(64, 3))
    free, bound = rng.normal(size=(64, 1)), before[:, :1] * 2.0
    slopes = slopes_of(before, free, 0.5 * free + 0.1 * before[:, :1])
    assert slopes is not None
    assert slopes[0, 0] == pytest.approx(1.0, abs=0.1)
    assert slopes_of(before, bound, 0.5 * bound) is None


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.floats(-2.0, 2.0), st.floats(0.001, 1000.0))
def test_the_gain_is_how_many_times_as_much_some_inputs_do(seed: int, times: float, unit: float) -> None:
    rng = np.random.default_rng(seed)
    true = np.array([[1.0, -2.0], [0.5, 0.3], [2.0, 1.0]])
    predictor = Predictor(3, 2)
    assert predictor.gain(np.zeros((4, 3)), np.zeros((4, 2)), slice(1, 3)) is None
    for _ in range(8):
        x = rng.normal(size=(64, 3))
        predictor.surprise(x, (x @ true + 7) * unit)
    x = rng.normal(size=(64, 3))
    changed = true * [[1], [times], [times]]
    assert predictor.gain(x, (x @ true + 7) * unit, slice(1, 3)) == pytest.approx(1, abs=1e-3)
    off = 0.6 * abs(times - 1) + 1e-3  # inputs that hang together by chance
    assert predictor.gain(x, (x @ changed + 7) * unit, slice(1, 3)) == pytest.approx(times, abs=off)
    assert predictor.gain(x * np.nan, x @ true, slice(1, 3)) is None


def test_inputs_that_do_nothing_have_no_gain() -> None:
    rng = np.random.default_rng(0)
    predictor = Predictor(2, 1)
    for _ in range(8):
        x = rng.normal(size=(64, 2))
        predictor.surprise(x, x[:, :1])
    x = rng.normal(size=(64, 2))
    assert predictor.gain(x, x[:, :1], slice(1, 2)) is None
    still = Predictor(2, 1)
    for _ in range(8):
        still.surprise(x, np.ones((64, 1)))
    assert still.gain(x, np.ones((64, 1)), slice(1, 2)) is None


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.floats(0.01, 100.0))
def test_leverage_is_the_diagonal_of_the_hat_matrix_over_its_mean(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    predictor = Predictor(3, 1)
    rows = [rng.normal(size=(64, 3)) * unit for _ in range(4)]
    for x in rows:
        predictor.surprise(x, x[:, :1])
    asked = rng.normal(size=(16, 3)) * 3 * unit
    xx, weight = np.zeros((4, 4)), 0.0
    for x in rows:  # one step after the other, with what is forgotten between rows
        xx, weight = xx * MEMORY, weight * MEMORY
        for step in x:
            one = np.append(1.0, step)
            xx, weight = xx + np.outer(one, one), weight + 1
    twin = [np.append(1.0, step) @ np.linalg.inv(xx / weight) @ np.append(1.0, step) / 4 for step in asked]
    np.testing.assert_allclose(predictor.leverage(asked), twin, rtol=1e-3)


def test_what_actions_do_is_not_said_of_where_the_model_never_was() -> None:
    """A swing: for small angles its sine is a line, and a policy that pushes by the angle goes beyond them."""
    rng = np.random.default_rng(0)

    def row(width: float, times: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        angle = rng.uniform(-width, width, size=(64, 1))
        push = np.sign(angle) + 0.3 * rng.normal(size=(64, 1))
        return np.concatenate([angle, push], axis=1), np.sin(angle) + 0.1 * times * push

    predictor = Predictor(2, 1)
    for _ in range(8):
        predictor.surprise(*row(0.5))
    assert predictor.gain(*row(0.5), slice(1, 2)) == pytest.approx(1.0, abs=0.1)
    assert predictor.gain(*row(0.5, 3.0), slice(1, 2)) == pytest.approx(3.0, abs=0.5)
    assert not predictor.lost
    assert predictor.gain(*row(5.0), slice(1, 2)) is None
    assert predictor.lost


def test_where_the_gain_was_odd_for_long_nobody_asks_where_the_model_has_been(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs do now the one, now the other: leverage is asked of the first rows only, and again once the gain was near
    1 for as long as the rule asks for."""
    rng, calls = np.random.default_rng(0), list[int]()
    usual = Predictor.leverage

    def counted(self: Predictor, x: np.ndarray) -> np.ndarray:
        calls.append(len(x))
        return usual(self, x)

    monkeypatch.setattr(Predictor, "leverage", counted)
    predictor = Predictor(2, 1)

    def row(times: float) -> float | None:
        x = rng.uniform(-1, 1, size=(64, 2))
        return predictor.gain(x, times * x[:, 1:] + 0.01 * rng.normal(size=(64, 1)), slice(1, 2))

    x = rng.uniform(-1, 1, size=(400, 2))
    predictor.surprise(x, x[:, 1:])
    gains = [row(-1.0 if number % 2 else 3.0) for number in range(40)]
    assert len(calls) == FEW_FAR
    assert gains == pytest.approx([3.0, -1.0] * 20, abs=0.1)
    for _ in range(MOST_FAR):
        assert row(1.0) == pytest.approx(1.0, abs=0.1)
    calls.clear()
    assert row(3.0) == pytest.approx(3.0, abs=0.1)
    assert len(calls) == 1


def test_what_some_inputs_add_is_in_spreads_of_the_targets() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3))
    predictor = Predictor(3, 1)
    predictor.surprise(x, 10 * x @ np.array([[3.0], [4.0], [0.0]]))
    np.testing.assert_allclose(predictor.does(slice(1, 3)), [[0.8], [0.0]], atol=0.03)
