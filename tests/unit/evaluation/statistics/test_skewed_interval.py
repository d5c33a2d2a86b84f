"""Student's t bent to skewness and tails, against a slow twin that finds the ends by bisection of the transform."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.evaluation.statistics import (
    MEAN,
    difference,
    interval,
    measured_coverage,
    optimality_gap,
    paired_difference,
)
from firstbreak.evaluation.statistics.intervals import ENOUGH
from firstbreak.evaluation.statistics.skew import contributions, skewed_ends

fast = settings(deadline=None, max_examples=40)
RNG = np.random.default_rng(3)
SCORES = np.exp(RNG.normal(size=(23, 4)))


def limited(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def twin(groups: list[list[float]], weights: list[float]) -> tuple[float, float]:
    """The ends of 95 % for the sum of weighted means: SciPy's moments, and bisection in place of the closed inverse."""
    parts = [w**2 * float(np.var(g, ddof=1)) / len(g) for g, w in zip(groups, weights, strict=True)]
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(p**2 / (len(g) - 1) for p, g in zip(parts, groups, strict=True))
    bend = heavy = 0.0
    for group, weight, part in zip(groups, weights, parts, strict=True):
        n = len(group)
        tails = float(scipy.stats.kurtosis(group, bias=False)) if n > 3 else 0.0
        most = limited(1.0 + tails / 4, 0.5, 1.5)
        skewness = limited(math.copysign(1.0, weight) * float(scipy.stats.skew(group)), -most, most)
        kurtosis = limited(tails, -2.0, 2.0)
        bend += skewness * math.sqrt(part) ** 3 / error**3 / math.sqrt(n)
        heavy += kurtosis * part**2 / error**4 / n
    quantile = scipy.stats.t.ppf(0.975, freedom)
    wide = quantile + quantile * (3 * quantile**2 + 5) / 12 * heavy
    centre = sum(w * float(np.mean(g)) for g, w in zip(groups, weights, strict=True))

    def transform(t: float) -> float:
        return t + bend * t**2 / 3 + bend**2 * t**3 / 27 + bend / 6

    ratios = [scipy.optimize.brentq(lambda t, to=to: transform(t) - to, -1e4, 1e4) for to in (wide, -wide)]
    return centre - error * ratios[0], centre - error * ratios[1]


def test_a_mean_has_the_ends_of_the_twin() -> None:
    found = interval(SCORES[:, 0], MEAN)
    assert found.method == "skewed"
    assert (found.lo, found.hi) == pytest.approx(twin([list(SCORES[:, 0])], [1.0]), rel=1e-9)
    assert found.hi - found.value > found.value - found.lo  # the truth of skewed scores lies rather above


def test_means_over_tasks_of_unequal_length_have_the_ends_of_the_twin() -> None:
    unequal = {"long": list(SCORES[:, 0]), "short": list(SCORES[:20, 1])}
    found = interval(unequal, MEAN)
    assert found.method == "skewed"
    assert (found.lo, found.hi) == pytest.approx(twin(list(unequal.values()), [0.5, 0.5]), rel=1e-9)


def test_a_difference_and_a_gap_have_the_ends_of_the_twin() -> None:
    x, y = list(SCORES[:, 0]), list(SCORES[:21, 1])
    found = difference({"a": x}, {"a": y})
    assert (found.lo, found.hi) == pytest.approx(twin([x, y], [1.0, -1.0]), rel=1e-9)
    pairs = paired_difference(SCORES[:, 0], SCORES[:, 1])
    assert (pairs.lo, pairs.hi) == pytest.approx(twin([list(SCORES[:, 0] - SCORES[:, 1])], [1.0]), rel=1e-9)
    short = 2.0 - np.minimum(SCORES[:, 0], 2.0)
    gap = interval(SCORES[:, 0], optimality_gap(2.0))
    assert (gap.lo, gap.hi) == pytest.approx(twin([list(short)], [1.0]), rel=1e-9)


def test_contributions_are_what_leaving_one_out_changes() -> None:
    """The jackknife, run by run; nothing but a constant may be between."""
    strata = [SCORES[None, :, 0], SCORES[None, :20, 1]]
    for place, found in enumerate(contributions(strata, MEAN.value)):
        n = strata[place].shape[-1]
        for run in range(n):
            less = [np.delete(one, run, axis=-1) if k == place else one for k, one in enumerate(strata)]
            change = float((MEAN.value(strata) - MEAN.value(less))[0])
            assert change * (n - 1) == pytest.approx(float(found[0, run] - found[0].mean()))


@fast
@given(st.lists(st.floats(-3, 3), min_size=20, max_size=40), st.floats(0.1, 10), st.floats(-5, 5))
def test_it_scales_shifts_and_turns_with_the_scores(values: list[float], scale: float, shift: float) -> None:
    scores = np.array(values) + np.linspace(0, 1, len(values))
    one, other = interval(scores, MEAN), interval(scores * scale + shift, MEAN)
    assert (other.lo, other.hi) == pytest.approx((one.lo * scale + shift, one.hi * scale + shift), rel=1e-6, abs=1e-6)
    turned = interval(-scores, MEAN)
    assert (turned.lo, turned.hi) == pytest.approx((-one.hi, -one.lo), rel=1e-6, abs=1e-6)
    assert one.lo < one.value < one.hi


def test_even_scores_have_nearly_students_interval() -> None:
    even = np.array([scipy.stats.norm.ppf((i + 0.5) / 400) for i in range(400)])
    found = interval(even, MEAN)
    expected = scipy.stats.t.interval(0.95, 399, loc=0, scale=scipy.stats.sem(even))
    assert (found.lo, found.hi) == pytest.approx(expected, rel=0.002)


def test_scores_that_hardly_differ_and_two_runs_are_no_trouble() -> None:
    lo, hi = skewed_ends([np.array([[1.0, 1.0], [1.0, 2.0]])], MEAN.value, 0.025)
    assert lo[0] == hi[0] == 1.0
    assert lo[1] < 1.5 < hi[1]
    ones = np.ones(25)
    ones[3] = 0.0
    assert interval(ones, MEAN).holds(0.9)


def test_a_million_scores_need_no_resampling() -> None:
    found = interval(RNG.normal(size=1_000_000), MEAN)
    assert found.width == pytest.approx(2 * 1.96e-3, rel=0.01)


@pytest.mark.parametrize("method", ["t", "expanded"])
def test_what_follows_no_skewness_holds_skewed_means_less_often(method: str) -> None:
    bent = measured_coverage(ENOUGH, 1, "mean", simulations=3000, reps=300)[1]
    plain = measured_coverage(ENOUGH, 1, "mean", method=method, simulations=3000, reps=300)[1]  # type: ignore[arg-type]
    assert bent.shape == "skewed"
    assert bent.held_frac > plain.held_frac + 2 * bent.error_frac
