"""Twins of `firstbreak.stats.change`: brute force over every position; coverage by Monte Carlo."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.series import Floats
from firstbreak.stats import Change, borne_out, first_run, persistent_onset, step_change, surpassed, two_piece_onset
from firstbreak.stats.change import largest_of, least_of
from tests.unit.stats.processes import many

fast = settings(deadline=None, max_examples=60)
masks = st.lists(st.booleans(), max_size=30)


@fast
@given(masks, st.integers(-1, 6))
def test_first_run_is_the_first_window_that_is_all_true(mask: list[bool], length: int) -> None:
    windows = [i for i in range(len(mask) - length + 1) if all(mask[i : i + length])] if length > 0 else []
    assert first_run(np.array(mask, dtype=bool), length) == (windows[0] if windows else None)


@pytest.mark.parametrize(("n", "length"), [(1, 1), (5, 1), (5, 5), (30, 4)])
def test_least_and_largest_of_each_window(n: int, length: int) -> None:
    value = np.random.default_rng(n).standard_normal(n)
    assert least_of(value, length).tolist() == [min(value[i : i + length]) for i in range(n - length + 1)]
    assert largest_of(value, length).tolist() == [max(value[i : i + length]) for i in range(n - length + 1)]


@fast
@given(st.lists(st.floats(0, 100), max_size=30), st.integers(1, 5), st.integers(1, 3), st.floats(0, 20))
def test_surpassed_is_the_first_place_that_leaves_all_before_it_behind(
    value: list[float], rows: int, lasts: int, least: float
) -> None:
    def leaves(place: int) -> bool:
        bar = max(least, 2.0 * max(value[:place]))
        after = value[place : place + lasts]
        return value[place] > 3.0 * bar or (len(after) == lasts and all(v > bar for v in after))

    found = [place for place in range(rows, len(value)) if leaves(place)]
    told = surpassed(np.array(value, float), rows=rows, least=least, times=2.0, lasts=lasts, decisive=3.0)
    assert told == (found[0] if found else None)


@fast
@given(st.lists(st.tuples(st.integers(1, 8), st.floats(0, 100)), max_size=20), st.floats(0, 20))
def test_an_early_row_counts_no_more_than_the_next(rows: list[tuple[int, float]], least: float) -> None:
    gaps, value = [gap for gap, _ in rows], [one for _, one in rows]
    usual = float(np.median(gaps[1:])) if len(rows) > 2 else 0.0

    def counts(place: int) -> float:
        early = len(rows) > 2 and place > 0 and gaps[place] <= 0.95 * usual
        after = value[place + 1] if place + 1 < len(value) else least
        return min(value[place], after) if early else value[place]

    told = borne_out(np.cumsum(gaps).astype(float), np.array(value, float), least)
    assert told.tolist() == [counts(place) for place in range(len(rows))]


@pytest.mark.parametrize("early", [24, 40, 56])
def test_an_early_row_is_known_wherever_it_comes_between_full_ones(early: int) -> None:
    step = 64.0 * np.arange(1, 12)
    told = borne_out(np.insert(step, 8, step[7] + early), np.insert(np.zeros(11), 8, 1.0), 0.5)
    assert told.max() == 0.0


@fast
@given(masks, st.integers(1, 4))
def test_persistent_onset_brackets_the_first_bad_point(mask: list[bool], length: int) -> None:
    step = 10.0 * np.arange(len(mask)) + 3
    onset = persistent_onset(step, np.array(mask, dtype=bool), length)
    runs = [(value, len(list(group))) for value, group in itertools.groupby(mask)]
    if not any(value and size >= length for value, size in runs):
        assert onset is None
        return
    assert onset is not None
    lo, hi = onset
    index = int((hi - 3) / 10)
    assert all(mask[index : index + length])
    assert lo == (hi - 10 if index else hi)


def brute_split(value: Floats, margin: int) -> tuple[int, float, float]:
    """The split with the least squared error, every one of them fitted from scratch."""
    costs = {
        k: float(((value[:k] - value[:k].mean()) ** 2).sum() + ((value[k:] - value[k:].mean()) ** 2).sum())
        for k in range(margin, value.size - margin + 1)
    }
    best = min(costs, key=lambda k: costs[k])
    return best, float(value[:best].mean()), float(value[best:].mean())


@fast
@given(st.integers(10, 40), st.integers(0, 10**6), st.floats(0.5, 8))
def test_step_change_finds_the_best_split(n: int, seed: int, size: float) -> None:
    value = np.random.default_rng(seed).standard_normal(n)
    value[n // 2 :] += size
    step = 5.0 * np.arange(n)
    change = step_change(step, value)
    assert change is not None
    split, before, after = brute_split(value, 4)
    assert change.before == pytest.approx(before)
    assert change.after == pytest.approx(after)
    assert change.lo <= step[split - 1] <= step[split] <= change.hi


def assert_same(a: Change | None, b: Change | None, scale: float, shift: float) -> None:
    assert a is not None
    assert b is not None
    assert (b.lo, b.hi) == (a.lo, a.hi)
    assert b.z == pytest.approx(a.z, rel=1e-4)
    assert b.before == pytest.approx(scale * a.before + shift, rel=1e-6)


@pytest.mark.parametrize("fit", [step_change, two_piece_onset])
@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e6), (3.0, -70.0)])
def test_a_change_is_where_it_is_in_any_unit(fit: type[Change], scale: float, shift: float) -> None:
    step = np.arange(60.0)
    value = np.random.default_rng(4).standard_normal(60) + 5 + np.maximum(step - 30, 0) / 5
    assert_same(fit(step, value), fit(step, scale * value + shift), scale, shift)  # type: ignore[arg-type, call-arg]


@pytest.mark.parametrize("fit", [step_change, two_piece_onset])
def test_nothing_is_claimed_of_constants_and_short_series(fit: type[Change]) -> None:
    assert fit(np.arange(40.0), np.full(40, 0.1)) is None  # type: ignore[arg-type, call-arg]
    assert fit(np.arange(9.0), np.arange(9.0)) is None  # type: ignore[arg-type, call-arg]


def test_an_exact_step_is_bounded_to_one_row() -> None:
    step = np.arange(100.0)
    change = step_change(step, np.where(step < 37, 1.0, 2.0))
    assert change is not None
    assert (change.lo, change.hi) == (36.0, 37.0)


def test_an_exact_ramp_is_bounded_closely_and_its_end_fitted() -> None:
    step = np.arange(60.0)
    change = two_piece_onset(step, np.maximum(step - 20, 0.0))
    assert change is not None
    assert 18 <= change.lo <= 20 <= change.hi <= 22
    assert change.before == pytest.approx(0, abs=1e-6)
    assert change.after == pytest.approx(39, rel=1e-3)


def coverage(kind: str, n: int, rho: float, size: float, count: int = 300) -> float:
    """How often the interval of the fit holds the true onset; `size` in standard deviations of the noise."""
    rng = np.random.default_rng([n, round(10 * size)])
    step = np.arange(n, dtype=float)
    held = 0
    for noise in many(count, n, rho, seed=9):
        true = int(rng.integers(n // 5, 4 * n // 5))
        if kind == "step":
            change = step_change(step, noise + size * (step >= true))
        else:
            change = two_piece_onset(step, noise + size * np.maximum(step - true, 0) / (n - true))
        assert change is not None
        held += change.lo <= true <= change.hi
    return held / count


# (n, rho, size, least coverage). Declared: 90 %. Strong autocorrelation costs up to four points with weak changes.
STEPS = [(30, 0.0, 2, 0.93), (100, 0.0, 1, 0.92), (300, 0.0, 4, 0.95), (30, 0.8, 2, 0.90), (100, 0.8, 1, 0.86)]
KNEES = [(30, 0.0, 4, 0.93), (100, 0.0, 4, 0.91), (300, 0.0, 8, 0.93), (30, 0.8, 4, 0.84), (300, 0.8, 4, 0.89)]


@pytest.mark.parametrize(("n", "rho", "size", "least"), STEPS)
def test_the_interval_of_a_step_holds_the_truth(n: int, rho: float, size: float, least: float) -> None:
    assert coverage("step", n, rho, size) >= least


@pytest.mark.parametrize(("n", "rho", "size", "least"), KNEES)
def test_the_interval_of_a_knee_holds_the_truth(n: int, rho: float, size: float, least: float) -> None:
    assert coverage("knee", n, rho, size) >= least


def test_white_noise_seldom_looks_like_a_step() -> None:
    step = np.arange(100.0)
    found = [step_change(step, x) for x in many(500, 100, 0.0)]
    assert np.mean([c is not None and abs(c.z) > 4 for c in found]) <= 0.01
