"""Shares, growth, differences and slopes against slow twins and known processes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.episodes.comparing import NOTHING, difference, growth, share, slopes, within

ROWS = st.lists(st.tuples(st.floats(0, 100), st.floats(0.5, 10), st.integers(0, 4)), min_size=3, max_size=30)


@given(ROWS)
def test_a_share_and_its_error_are_those_of_the_slow_twin(rows: list[tuple[float, float, int]]) -> None:
    part, whole, cluster = zip(*rows, strict=True)
    value, error = share(part, whole, cluster)
    labels = sorted(set(cluster)) if len(set(cluster)) > 1 else None
    units = [[r for r in rows if r[2] == c] for c in labels] if labels else [[r] for r in rows]
    ratio = sum(part) / sum(whole)
    squares = sum((sum(p for p, _, _ in u) - ratio * sum(w for _, w, _ in u)) ** 2 for u in units)
    n = len(units)
    assert value == pytest.approx(ratio)
    assert error == pytest.approx(math.sqrt(n / (n - 1) * squares) / sum(whole), abs=1e-9)


def test_the_interval_of_a_share_covers_as_it_says() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        prompts = np.repeat(random.beta(2, 2, 40), 8)
        hits = (random.random(320) < prompts).astype(float)
        value, error = share(hits, np.ones(320), np.repeat(np.arange(40), 8))
        covered += abs(value - 0.5) < 1.96 * error
    assert 0.9 < covered / 400 < 0.985


def test_growth_is_that_of_a_bootstrap() -> None:
    random = np.random.default_rng(1)
    calls = np.concatenate([random.poisson(4, 200), random.poisson(8, 200)]).astype(float)
    cluster = np.repeat(np.arange(50), 8)
    early = np.arange(400) < 200
    found = growth(calls, np.ones(400), cluster, early, ~early)
    drawn = []
    for _ in range(500):
        a, b = random.integers(0, 25, 25), random.integers(25, 50, 25)
        drawn.append(sum(calls[cluster == c].sum() for c in b) / sum(calls[cluster == c].sum() for c in a))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found.value == pytest.approx(calls[200:].sum() / calls[:200].sum())
    assert found.low == pytest.approx(low, rel=0.06)
    assert found.high == pytest.approx(high, rel=0.06)


def test_growth_from_nothing_is_unknown() -> None:
    zeros, ones = np.zeros(8), np.ones(8)
    early = np.arange(8) < 4
    assert growth(zeros, ones, np.arange(8), early, ~early) == NOTHING
    assert growth(ones, zeros, np.arange(8), early, ~early) == NOTHING


def test_a_difference_has_welchs_interval_where_prompts_are_single() -> None:
    random = np.random.default_rng(2)
    x = random.normal(0, 1, 100)
    first = np.arange(100) < 50
    found = difference(x, np.arange(100), first, ~first)
    half = 1.959964 * math.sqrt(x[:50].var() / 49 + x[50:].var() / 49)
    assert found.value == pytest.approx(x[50:].mean() - x[:50].mean())
    assert found.high - found.value == pytest.approx(half)
    assert difference(x, np.arange(100), first, np.zeros(100, bool)) == NOTHING


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 3)), min_size=1, max_size=20))
def test_within_leaves_no_mean_of_a_cluster(rows: list[tuple[float, int]]) -> None:
    values, cluster = (np.array(v) for v in zip(*rows, strict=True))
    left = within(values, cluster)
    for c in set(cluster.tolist()):
        mean = values[cluster == c].mean()
        assert left[cluster == c] == pytest.approx(values[cluster == c] - mean, abs=1e-9)


def test_slopes_are_found_with_honest_errors() -> None:
    random = np.random.default_rng(3)
    inside = 0
    for _ in range(200):
        x = random.normal(0, 1, (80, 2)) * [1, 1000] + [5, 1e5]
        y = 3 + x @ np.array([2.0, -0.001]) + random.normal(0, 1, 80) * np.abs(x[:, 0] - 5)
        slope, error = slopes(x, y)
        inside += abs(slope[0] - 2) < 1.96 * error[0]
    assert 0.87 < inside / 200 < 0.99
    exact, _ = slopes(x, 3 + x @ np.array([2.0, -0.001]))
    assert exact == pytest.approx([2.0, -0.001])
    fitted = np.linalg.lstsq(np.column_stack([np.ones(80), x]), y, rcond=None)[0]
    assert slope == pytest.approx(fitted[1:], rel=1e-6)


def test_causes_that_cannot_be_told_apart_have_no_slope() -> None:
    x = np.arange(20.0)
    _, error = slopes(np.column_stack([x, 2 * x + 1]), x)
    assert np.isinf(error).all()
    _, error = slopes(np.column_stack([x, np.ones(20)]), x)
    assert np.isinf(error).all()
    _, error = slopes(np.ones((2, 1)), np.ones(2))
    assert np.isinf(error).all()
