"""Twins: Mann-Whitney's U, the noncentral t, order statistics by simulation, pass@k by counting every choice."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.evaluation.statistics import (
    SingleSeedError,
    detectable,
    difference,
    paired_difference,
    performance_profile,
    power,
    probability_of_improvement,
    runs_needed,
)
from firstbreak.evaluation.statistics.improvement import score_ends
from firstbreak.evaluation.statistics.pass_at_k import pass_at_k, pass_at_k_each
from firstbreak.evaluation.statistics.proportion import wilson
from firstbreak.evaluation.statistics.selection import expected_maximum, selection_gain
from firstbreak.series import Floats

fast = settings(deadline=None, max_examples=40)
RNG = np.random.default_rng(1)


@fast
@given(st.lists(st.integers(0, 9), min_size=2, max_size=8), st.lists(st.integers(0, 9), min_size=2, max_size=8))
def test_improvement_is_mann_whitneys_u(x: list[int], y: list[int]) -> None:
    expected = scipy.stats.mannwhitneyu(x, y).statistic / (len(x) * len(y))
    found = probability_of_improvement([np.array(x, float)], [np.array(y, float)])
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert 0 <= found.lo <= found.value + 1e-12
    assert found.value - 1e-12 <= found.hi <= 1


def test_winning_every_time_is_not_certainty() -> None:
    for runs in (3, 30):
        found = probability_of_improvement(np.arange(runs) + 100.0, np.arange(runs) * 1.0)
        assert found.value == 1
        assert found.lo < 1 - 0.2 / runs
    assert probability_of_improvement(np.arange(3.0) + 10, np.arange(3.0)).lo < 0.5


def test_the_score_interval_of_improvement_covers() -> None:
    for effect in (0.0, 1.0, 2.0):
        truth = scipy.stats.norm.cdf(effect / math.sqrt(2))
        shares = (RNG.normal(effect, 1, (3000, 5, 1)) > RNG.normal(size=(3000, 1, 5))).mean(axis=(1, 2))
        different, times = np.unique(shares.round(9), return_counts=True)
        ends = [score_ends(float(share), [(5, 5)], 0.95) for share in different]
        held = sum(n for n, (lo, hi) in zip(times, ends, strict=True) if lo <= truth <= hi)
        assert held / 3000 >= 0.94


def test_differences_of_many_runs_are_welchs_intervals_nearly() -> None:
    x, y = RNG.normal(3, 1, 60), RNG.normal(1, 2, 60)
    expected = scipy.stats.ttest_ind(x, y, equal_var=False).confidence_interval()
    found = difference(x, y, reps=5000)
    assert (found.lo, found.hi) == pytest.approx((expected.low, expected.high), abs=0.08)
    paired = scipy.stats.ttest_rel(x, y).confidence_interval()
    found = paired_difference(x, y, reps=5000)
    assert (found.lo, found.hi) == pytest.approx((paired.low, paired.high), abs=0.08)


def test_pairs_and_tasks_must_fit() -> None:
    with pytest.raises(InputError, match="do not pair"):
        paired_difference(np.arange(3.0), np.arange(4.0))
    with pytest.raises(InputError, match="same tasks: a, b"):
        difference({"a": [1.0, 2.0]}, {"b": [1.0, 2.0]})
    with pytest.raises(SingleSeedError):
        difference(np.arange(3.0), np.array([1.0]))


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("runs", [2, 3, 10, 64, 2000])
def test_power_is_that_of_the_noncentral_t(runs: int, paired: bool) -> None:
    for shift in (0.1, 2.0, 5.0):  # far out SciPy's own is NaN
        df = runs - 1 if paired else 2 * runs - 2
        effect = shift / math.sqrt(runs if paired else runs / 2)
        bar = scipy.stats.t.ppf(0.975, df)
        expected = scipy.stats.nct.sf(bar, df, shift) + scipy.stats.nct.cdf(-bar, df, shift)
        assert power(effect, 1.0, runs, paired=paired) == pytest.approx(expected, abs=1e-6)


def test_needed_runs_are_the_fewest() -> None:
    assert runs_needed(1.0, 1.0) == 17  # the rule of thumb 16 (sd / effect)^2, plus one
    for effect, sd, paired in ((0.5, 1.0, False), (2.0, 1.0, True), (30.0, 10.0, False)):
        n = runs_needed(effect, sd, paired=paired)
        assert n is not None
        assert power(effect, sd, n, paired=paired) >= 0.8 > power(effect, sd, n - 1, paired=paired)
        assert detectable(sd, n, paired=paired) <= abs(effect) + 1e-6
    assert runs_needed(1e-5, 1.0) is None
    assert runs_needed(1.0, 0.0) == 2
    assert detectable(1.0, 1) == math.inf
    with pytest.raises(InputError):
        power(0.0, 1.0, 5)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_the_expected_maximum_is_simulated(n: int) -> None:
    drawn = np.random.default_rng(0).normal(size=(40_000, n)).max(axis=1)
    assert expected_maximum(n) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 200 + 1e-9)
    assert selection_gain(n, 0.1) == pytest.approx(0.1 * expected_maximum(n))


def test_known_expected_maxima() -> None:
    assert expected_maximum(2) == pytest.approx(1 / math.sqrt(math.pi), abs=1e-9)
    assert expected_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi), abs=1e-9)
    with pytest.raises(InputError):
        expected_maximum(0)


def bootstrapped_gain(scores: Floats, reps: int = 2000) -> float:
    """How far the best of candidates scores above the truth, by the optimism of the bootstrap (Efron 1983).

    `scores` are per item [candidates, items]. In each resample of items the best candidate's score is compared with its
    score on all items.
    """
    random, truth = np.random.default_rng(0), scores.mean(axis=1)
    gains: list[float] = []
    for _ in range(reps):
        sample = scores[:, random.integers(0, scores.shape[1], scores.shape[1])].mean(axis=1)
        gains.append(float(sample.max() - truth[np.argmax(sample)]))
    return float(np.mean(gains))


def test_the_selection_gain_is_that_of_the_bootstrap_and_more_where_candidates_share_their_noise() -> None:
    apart = RNG.normal(size=(8, 200))
    apart -= apart.mean(axis=1, keepdims=True)
    shared = np.tile(RNG.normal(size=200), (8, 1)) + 0.01 * RNG.normal(size=(8, 200))
    gain = selection_gain(8, 1 / math.sqrt(200))
    assert gain == pytest.approx(bootstrapped_gain(apart), rel=0.15)
    assert gain > 5 * bootstrapped_gain(shared)


@fast
@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_counts_every_choice(case: tuple[int, int, int]) -> None:
    n, c, k = case
    answers = [True] * c + [False] * (n - c)
    choices = list(itertools.combinations(range(n), k))
    expected = sum(any(answers[i] for i in choice) for choice in choices) / len(choices)
    assert pass_at_k_each([n], [c], k)[0] == pytest.approx(expected, abs=1e-12)


def test_pass_at_k_of_many_samples_neither_overflows_nor_cancels() -> None:
    each = pass_at_k_each([100_000], [1], 10)
    assert each[0] == pytest.approx(1e-4, rel=1e-9)


def test_pass_at_k_intervals() -> None:
    found = pass_at_k([8] * 40, list(range(8)) * 5, 2)
    assert 0 <= found.lo < found.value < found.hi <= 1
    sure = pass_at_k([4] * 30, [4] * 30, 1)
    assert sure.value == 1
    assert sure.lo == pytest.approx(wilson(30, 30).lo)
    assert sure.lo < 0.9
    with pytest.raises(SingleSeedError):
        pass_at_k([8], [4], 1)
    with pytest.raises(InputError, match="pass@9"):
        pass_at_k([8, 8], [4, 4], 9)


@fast
@given(st.integers(2, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(case: tuple[int, int]) -> None:
    passed, n = case
    expected = scipy.stats.binomtest(passed, n).proportion_ci(method="wilson")
    found = wilson(passed, n)
    assert (found.lo, found.hi) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_profiles_are_shares_above() -> None:
    scores = RNG.normal(size=(9, 3))
    at = np.linspace(-2, 2, 7)
    found = performance_profile(scores, at, reps=400)
    assert found.lo is not None
    assert found.hi is not None
    for i, threshold in enumerate(at):
        share = np.mean([np.mean([v > threshold for v in scores[:, k]]) for k in range(3)])
        assert found.share[i] == pytest.approx(share)
        assert found.lo[i] <= share <= found.hi[i]
    assert performance_profile(scores[:1], at).lo is None
