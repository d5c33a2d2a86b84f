"""Measures of rewards against slow twins, and what must not change them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.preflight.reward import measures
from firstbreak.preflight.reward.judging import superiority
from firstbreak.preflight.reward.loops import max_mean_cycle
from firstbreak.preflight.reward.sample import RewardSample, discount

RANDOM = np.random.default_rng(3)
NORMAL = RANDOM.normal(size=400)


def slow_top_share(values: list[float], frac: float) -> float:
    middle = (
        sorted(values)[len(values) // 2] if len(values) % 2 else sum(sorted(values)[len(values) // 2 - 1 :][:2]) / 2
    )
    gaps = sorted((abs(v - middle) for v in values), reverse=True)
    return sum(gaps[: max(1, math.ceil(frac * len(gaps)))]) / sum(gaps)


def test_top_share_is_the_share_of_the_largest_deviations() -> None:
    assert measures.top_share(NORMAL) == pytest.approx(slow_top_share(NORMAL.tolist(), 0.01))
    assert measures.top_share(np.full(10, 3.0)) == 0.0


@pytest.mark.parametrize(
    ("draw", "share"),
    [(lambda r: r.normal(size=200_000), 0.033), (lambda r: r.exponential(size=200_000), 0.08)],
)
def test_top_share_of_known_distributions(draw: object, share: float) -> None:
    assert measures.top_share(draw(np.random.default_rng(0))) == pytest.approx(share, abs=0.01)  # type: ignore[operator]


@given(st.floats(1e-6, 1e6), st.floats(-1e3, 1e3))
def test_shape_measures_do_not_change_with_scale_and_shift(scale: float, shift: float) -> None:
    moved = NORMAL * scale + shift * scale
    assert measures.top_share(moved) == pytest.approx(measures.top_share(NORMAL), rel=1e-6)
    assert measures.tail_weight(moved) == pytest.approx(measures.tail_weight(NORMAL), rel=1e-6)
    assert measures.decades(NORMAL * scale) == measures.decades(NORMAL)


def test_tail_weight_of_a_gaussian() -> None:
    assert measures.tail_weight(np.random.default_rng(0).normal(size=200_000)) == pytest.approx(2.906, abs=0.03)
    assert math.isnan(measures.tail_weight(np.zeros(20)))


@given(st.integers(1, 300), st.data())
def test_fraction_interval_solves_wilsons_equation(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    low, high = measures.fraction_interval(hits, n)
    assert 0.0 <= low <= hits / n <= high <= 1.0
    for bound in (low, high):
        if 1e-9 < bound < 1 - 1e-9:
            z = abs(hits / n - bound) / math.sqrt(bound * (1 - bound) / n)
            assert z == pytest.approx(1.959964, rel=1e-4)


def test_rank_interval_covers_and_narrows() -> None:
    x = RANDOM.normal(size=300)
    y = x + RANDOM.normal(size=300)
    rho, low, high = measures.rank_interval(x, y)
    assert low < rho < high
    assert high - low < 0.25
    assert measures.rank_interval(x, np.ones(300)) == (0.0, -1.0, 1.0)


def test_covariance_shares_add_up_and_match_numpy() -> None:
    parts = {"a": RANDOM.normal(size=200), "b": 3 * RANDOM.normal(size=200), "c": np.full(200, 50.0)}
    total = np.sum(list(parts.values()), axis=0)
    shares = measures.covariance_shares(parts, total)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["c"] == pytest.approx(0.0, abs=1e-12)
    assert shares["b"] == pytest.approx(np.cov(parts["b"], total, ddof=0)[0, 1] / np.var(total))
    times_ten = measures.covariance_shares({k: 10 * v for k, v in parts.items()}, 10 * total)
    assert times_ten == pytest.approx(shares)


def test_between_share_is_the_anova_estimate() -> None:
    labels = np.repeat(np.arange(50), 8)
    effect = RANDOM.normal(size=50)[labels]
    rewards = effect + RANDOM.normal(size=400)
    groups = [rewards[labels == k] for k in range(50)]
    within = sum(((g - g.mean()) ** 2).sum() for g in groups) / (400 - 50)
    between = sum(8 * (g.mean() - rewards.mean()) ** 2 for g in groups) / 49
    expected = (between - within) / 8 / ((between - within) / 8 + within)
    assert measures.between_share(rewards, labels) == pytest.approx(expected)
    assert measures.between_share(RANDOM.normal(size=400), labels) < 0.1


def test_humps_need_two_tight_sides() -> None:
    two = np.concatenate([RANDOM.normal(-1, 0.1, 100), RANDOM.normal(1, 0.1, 100)])
    assert measures.two_humps(two) == pytest.approx((-1.0, 1.0), abs=0.05)
    assert measures.two_humps(NORMAL) is None
    assert measures.two_humps(two + 1.5) is None


def test_superiority_is_the_share_of_pairs() -> None:
    some, others = RANDOM.integers(0, 5, 30).astype(float), RANDOM.integers(0, 5, 40).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a, b in itertools.product(some, others)]
    assert superiority(some, others) == pytest.approx(np.mean(pairs))


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.floats(0, 1))
def test_discount_is_the_discounted_sum(rewards: list[float], gamma: float) -> None:
    found = discount(np.array(rewards), gamma)
    for t in range(len(rewards)):
        expected = sum(gamma**k * r for k, r in enumerate(rewards[t:]))
        assert found[t] == pytest.approx(expected, abs=1e-9)


@given(st.integers(2, 5), st.data())
def test_max_mean_cycle_against_all_simple_cycles(count: int, data: st.DataObject) -> None:
    edges = data.draw(
        st.dictionaries(
            st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), st.integers(-4, 4), min_size=1, max_size=12
        )
    )
    best = None
    for size in range(1, count + 1):
        for nodes in itertools.permutations(range(count), size):
            steps = list(zip(nodes, (*nodes[1:], nodes[0]), strict=True))
            if all(step in edges for step in steps):
                mean = sum(edges[step] for step in steps) / size
                best = mean if best is None else max(best, mean)
    start, end = (np.array(column) for column in zip(*edges, strict=True))
    found = max_mean_cycle(count, start, end, np.array(list(edges.values()), dtype=float))
    assert (found is None) == (best is None)
    assert found is None or found == pytest.approx(best)


def test_returns_of_whole_episodes_only() -> None:
    sample = RewardSample(
        [1, 1, 1, 1, 1], episode=["a", "a", "b", "b", "b"], truncated=[0, 1, 0, 0, 0], terminated=np.zeros(5)
    )
    assert sample.returns.tolist() == [2.0]
    assert sample.unit == "episodes"
