"""Alpha against its slow twin and published values."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.labels.agreement import agreement, krippendorff_alpha

SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
UNITS = st.lists(st.lists(SCORES, max_size=4), max_size=12)


def slow_alpha(units: list[list[float]]) -> float:
    """By all ordered pairs."""
    kept = [u for u in units if len(u) > 1]
    values = [v for u in kept for v in u]
    n = len(values)
    if n < 2:
        return math.nan
    observed = sum(sum((a - b) ** 2 for a, b in permutations(u, 2)) / (len(u) - 1) for u in kept) / n
    expected = sum((a - b) ** 2 for a, b in permutations(values, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected else math.nan


@given(UNITS)
def test_alpha_is_that_of_all_pairs(units: list[list[float]]) -> None:
    assert krippendorff_alpha(units) == pytest.approx(slow_alpha(units), nan_ok=True, abs=1e-9)


@given(UNITS, st.floats(0.1, 100), st.floats(-50, 50))
def test_alpha_does_not_depend_on_the_scale(units: list[list[float]], factor: float, shift: float) -> None:
    moved = [[factor * v + shift for v in u] for u in units]
    assert krippendorff_alpha(moved) == pytest.approx(krippendorff_alpha(units), nan_ok=True, abs=1e-6)


def test_alpha_of_the_published_example() -> None:
    """Krippendorff 2011, section C: four observers, twelve units, interval data: 0.849."""
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[float(r[i]) for r in rows if r[i] is not None] for i in range(12)]
    assert krippendorff_alpha(units) == pytest.approx(0.849, abs=5e-4)


def test_agreement_has_an_interval_and_counts_whom_it_saw() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 5, 80) / 4
    noisy = np.clip(truth + random.integers(-1, 2, 80) / 4, 0, 1)
    scores = {str(i): {"a": float(truth[i]), "b": float(noisy[i])} for i in range(80)} | {"alone": {"c": 1.0}}
    found = agreement(scores)
    assert found is not None
    assert (found.units, found.labellers) == (80, 2)
    assert 0.5 < found.low < found.value < found.high < 1
    assert agreement({"x": {"a": 1.0}}) is None


def test_labellers_who_guess_agree_as_chance_does() -> None:
    random = np.random.default_rng(1)
    inside = 0
    for _ in range(40):
        scores = {str(i): {"a": float(x), "b": float(y)} for i, (x, y) in enumerate(random.integers(0, 5, (60, 2)) / 4)}
        found = agreement(scores)
        assert found is not None
        inside += found.low < 0 < found.high
    assert inside >= 34
