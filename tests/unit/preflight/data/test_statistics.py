"""Slow twins of the statistics of the data checks."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.preflight.data.alignment import align, chance, diagonal, overlap, words
from firstbreak.preflight.data.counting import even_chance, rate_interval, repeats
from firstbreak.preflight.data.lengths import spike
from firstbreak.preflight.data.pairing import ties
from firstbreak.preflight.data.quoting import quotes
from firstbreak.preflight.data.tokens import run_at_end, runs


@pytest.mark.parametrize("seed", range(3))
def test_moments_over_all_orders_are_those_of_drawn_orders(seed: int) -> None:
    draw = np.random.default_rng(seed)
    matrix = draw.exponential(size=(30, 30)) * draw.integers(0, 2, (30, 30))
    sums = np.array([matrix[np.arange(30), draw.permutation(30)].sum() for _ in range(20_000)])
    mean, variance = chance(matrix)
    assert abs(sums.mean() - mean) < 4 * math.sqrt(variance / 20_000)
    assert sums.var() == pytest.approx(variance, rel=0.05)


def test_overlap_is_the_sum_of_the_weights_of_shared_words() -> None:
    prompts = [words("red castle 12"), words("blue castle 7"), words("green garden 12")]
    answers = [words("castle 12 twelve"), words("garden"), words("nothing here")]
    expected = np.zeros((3, 3))
    for i, p in enumerate(prompts):
        for j, a in enumerate(answers):
            shared = sum(math.log(3 / sum(w in q for q in prompts)) for w in p & a)
            expected[i, j] = shared / math.sqrt(max(1, len(a)))
    assert np.allclose(overlap(prompts, answers), expected)


def test_a_diagonal_wraps_around_the_end() -> None:
    matrix = np.arange(16.0).reshape(4, 4)
    assert diagonal(matrix, 1).tolist() == [matrix[0, 1], matrix[1, 2], matrix[2, 3], matrix[3, 0]]
    assert diagonal(matrix, -1).tolist() == [matrix[0, 3], matrix[1, 0], matrix[2, 1], matrix[3, 2]]


def test_unrelated_answers_are_rarely_called_related() -> None:
    draw = np.random.default_rng(0)
    z = []
    for _ in range(200):
        one = align(1, 128, [draw.exponential(size=(64, 64)) for _ in range(2)])
        assert one is not None
        z.append(one.in_place)
    assert abs(np.mean(z)) < 0.25
    assert 0.8 < np.std(z) < 1.2


VOCABULARY = [f"{a}{b}word" for a in "abcdef" for b in "klmnop"]


@pytest.mark.parametrize("seed", range(5))
def test_ties_and_quotes_are_those_of_a_plain_loop(seed: int) -> None:
    draw = np.random.default_rng(seed)
    prompts = [frozenset(str(w) for w in draw.choice(VOCABULARY, 4)) for _ in range(12)]
    answers = [frozenset(str(w) for w in draw.choice(VOCABULARY, 4)) for _ in range(12)]
    prompts[3] |= prompts[5] | answers[5]
    alone = [w for w in VOCABULARY if sum(w in p for p in prompts) == 1 and sum(w in a for a in answers) == 1]
    slow: set[tuple[int, int]] = set()
    quoted: set[tuple[int, int]] = set()
    for i, p in enumerate(prompts):
        for j, a in enumerate(answers):
            history = len(p & prompts[j]) >= 0.8 * len(prompts[j])
            if i != j and len(a & p) >= 0.9 * len(a) and history and len(p) > len(prompts[j]):
                quoted.add((i, j))
            elif sum(w in p and w in a for w in alone) >= 2:
                slow.add((i, j))
    found = ties(prompts, answers)
    assert set(found.elsewhere) == {pair for pair in slow if pair[0] != pair[1]}
    assert found.in_place == sum(i == j for i, j in slow)
    assert (3, 5) in quoted
    assert {(int(i), int(j)) for i, j in np.argwhere(quotes(prompts, answers, [False] * 12))} == quoted


def test_nothing_shared_is_nothing_to_judge() -> None:
    assert align(1, 64, [np.zeros((64, 64))]) is None


@given(n=st.integers(1, 60), k=st.integers(0, 60))
def test_chance_of_heads_is_the_sum_of_the_binomial(n: int, k: int) -> None:
    k = min(k, n)
    slow = sum(math.comb(n, i) for i in range(k, n + 1)) / 2**n
    assert even_chance(k, n) == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (5, 10), (90, 100), (1, 1000)])
def test_the_interval_is_where_the_score_test_does_not_refuse(k: int, n: int) -> None:
    low, high = rate_interval(k, n)
    grid = np.linspace(1e-6, 1 - 1e-6, 200_001)
    kept = grid[np.abs(k / n - grid) <= 1.96 * np.sqrt(grid * (1 - grid) / n)]
    assert low == pytest.approx(kept.min(), abs=2e-5)
    assert high == pytest.approx(kept.max(), abs=2e-5)
    assert rate_interval(0, 0) == (0.0, 1.0)


@given(keys=st.lists(st.integers(-5, 5)))
def test_repeats_are_counted_as_a_loop_counts_them(keys: list[int]) -> None:
    seen: set[int] = set()
    later = [i for i, key in enumerate(keys) if key in seen or seen.add(key)]
    count, first = repeats(np.array(keys, np.int64))
    assert count == len(later) == sum(c - 1 for c in Counter(keys).values())
    assert first == (later[0] if later else -1)


@given(ids=st.lists(st.integers(0, 2), min_size=1))
def test_runs(ids: list[int]) -> None:
    end = 1
    while end < len(ids) and ids[-end - 1] == ids[-1]:
        end += 1
    assert run_at_end(np.array(ids)) == end
    mask = [bool(i) for i in ids]
    assert runs(np.array(mask)) == sum(m and (i == 0 or not mask[i - 1]) for i, m in enumerate(mask))


@given(lengths=st.lists(st.integers(0, 300), max_size=200))
def test_a_pile_counts_the_greatest_length(lengths: list[int]) -> None:
    found = spike(lengths)
    if found is not None:
        assert found.length == max(lengths)
        assert found.count == lengths.count(max(lengths))
        near = [n for n in lengths if int(0.8 * found.length) <= n < found.length]
        assert found.expected == pytest.approx(len(near) / (found.length - int(0.8 * found.length)))
