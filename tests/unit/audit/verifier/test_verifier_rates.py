"""Clustered rates and shrinking against slow twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.verifier.rates import clustered_rate, rate_interval_of
from firstbreak.audit.verifier.shrinking import shortest
from firstbreak.preflight.data.counting import rate_interval

TRIALS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=60)


@given(st.integers(0, 40), st.integers(1, 40))
def test_the_interval_is_wilsons(hits: int, n: int) -> None:
    assert rate_interval_of(min(hits, n) / n, n) == pytest.approx(rate_interval(min(hits, n), n))


def slow_effective(trials: list[tuple[int, bool]]) -> float:
    """Effective trials by the linearised ratio estimator, term by term."""
    rows = sorted({row for row, _ in trials})
    n, k = len(trials), sum(hit for _, hit in trials)
    residuals = [sum(hit - k / n for row, hit in trials if row == name) for name in rows]
    if len(rows) < 2 or k in (0, n):
        return float(len(rows))
    variance = len(rows) / (len(rows) - 1) * sum(r * r for r in residuals) / n**2
    wanted = (k / n) * (1 - k / n) / variance if variance > 0 else n
    return min(float(n), max(float(len(rows)), wanted))


@given(TRIALS)
def test_clustered_rates_agree_with_the_slow_twin(trials: list[tuple[int, bool]]) -> None:
    found = clustered_rate(trials)
    assert found.value == pytest.approx(sum(hit for _, hit in trials) / len(trials))
    low, high = rate_interval_of(found.value, slow_effective(trials))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert found.low <= found.value + 1e-12 <= found.high + 2e-12


def test_alike_trials_of_a_row_count_once() -> None:
    rows = [(row, row % 2 == 0) for row in range(20)]
    once, often = clustered_rate(rows), clustered_rate(rows * 30)
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=0.02)
    assert clustered_rate([]).high == 1.0


def test_the_interval_covers_the_truth() -> None:
    draw = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        chances = draw.beta(2, 4, 24)
        trials = [(row, bool(draw.random() < chances[row])) for row in range(24) for _ in range(8)]
        found = clustered_rate(trials)
        covered += found.low <= 1 / 3 <= found.high
    assert 0.92 <= covered / 400 <= 0.99


@given(st.text("ab1", max_size=8), st.text("ab1", min_size=1, max_size=2))
def test_the_shortest_text_cannot_be_shortened(text: str, needle: str) -> None:
    whole = text + needle + text
    found = shortest(whole, lambda t: needle in t, 5000)
    assert found == needle


@given(st.text("abc", min_size=1, max_size=7))
def test_shrinking_ends_at_a_text_no_character_of_which_can_go(text: str) -> None:
    def holds(t: str) -> bool:
        return t.count("a") * 2 + t.count("b") >= text.count("a") * 2 + text.count("b") - 1

    found = shortest(text, holds, 5000)
    assert holds(found)
    assert not any(holds(found[:i] + found[i + 1 :]) for i in range(len(found)))
    brute = min(
        len("".join(c)) for n in range(len(text) + 1) for c in itertools.combinations(text, n) if holds("".join(c))
    )
    assert brute <= len(found) <= len(text)


def test_the_budget_is_kept() -> None:
    asked: list[str] = []
    shortest("x" * 400, lambda t: bool(asked.append(t)) or len(t) > 300, 25)
    assert len(asked) <= 25
