"""The sequential test: its errors as promised, against a plain recomputation and by simulation."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.experiments.shrink import Sequential, between
from firstbreak.experiments.shrink.sequential import fisher

rates = st.tuples(st.floats(0.01, 0.45), st.floats(0.55, 0.99))


@given(rates, st.lists(st.booleans(), max_size=12))
def test_it_is_the_ratio_of_the_likelihoods(rates: tuple[float, float], shown: list[bool]) -> None:
    low, high = rates
    slow: bool | None = None
    for n in range(1, len(shown) + 1):
        k = sum(shown[:n])
        ratio = (high / low) ** k * ((1 - high) / (1 - low)) ** (n - k)
        if slow is None and not 0.05 / 0.95 < ratio < 0.95 / 0.05:
            slow = ratio > 1
    assert Sequential(low, high).decide(shown) is slow


def test_wrong_decisions_are_as_rare_as_promised() -> None:
    rng = np.random.default_rng(0)
    test = Sequential(0.1, 0.9, most_seeds=200)
    for rate, right in ((0.1, False), (0.9, True)):
        said = [test.decide(rng.random(200) < rate) for _ in range(2000)]
        wrong = sum(one is not right for one in said) / len(said)
        assert wrong < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)


def test_without_chance_one_seed_decides() -> None:
    sure = Sequential(0.0, 1.0)
    assert sure.decide([True]) is True
    assert sure.decide([False]) is False
    assert sure.decide([]) is None


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_fishers_test_is_that_of_scipy(n: int, m: int, data: st.DataObject) -> None:
    from scipy.stats import fisher_exact

    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    slow = fisher_exact([[a, n - a], [b, m - b]], alternative="greater").pvalue
    assert math.isclose(fisher((a, n), (b, m)), slow, rel_tol=1e-9)


def test_rates_too_close_make_no_test() -> None:
    assert between((4, 4), (0, 4)) is not None
    assert between((4, 4), (4, 4)) is None
    assert between((2, 4), (2, 4)) is None
    assert between((3, 4), (2, 4)) is None
    assert between((1, 4), (3, 4)) is None
    clear = between((4, 4), (0, 4))
    assert clear is not None
    assert (clear.low, clear.high) == (0.1, 0.9)
    assert clear.fewest(True) == clear.fewest(False) == 2
