"""The shared statistics of the checks of samples against slow, obvious twins, and what must not change them."""

from __future__ import annotations

import importlib.util
import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.audit.collecting import collect
from firstbreak.audit.judgement.contrast import contrast, line
from firstbreak.audit.judgement.groups import (
    correlations_within,
    dense,
    gains_within,
    mean_within,
    median_within,
    ranks_within,
)
from firstbreak.audit.judgement.hack_score import hack_scores
from firstbreak.audit.judgement.paid import paid, rank_bounds, spread_within
from firstbreak.audit.judgement.periods import move, periods
from firstbreak.audit.judgement.phrases import LEAST_PROMPTS, phrases_of, share_of
from firstbreak.audit.seen import words_of
from firstbreak.stats import mean_interval, rank_correlation

from .made_answers import answers

VALUE = st.one_of(st.integers(-4, 4).map(float), st.just(math.nan))
ROWS = st.lists(st.tuples(st.integers(0, 4), VALUE, VALUE), min_size=1, max_size=40)


def split(rows: list[tuple[int, float, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    group, x, y = zip(*rows, strict=True)
    return dense(np.array(group, np.uint64)), np.array(x), np.array(y)


def members(index: np.ndarray, values: np.ndarray) -> dict[int, list[float]]:
    found: dict[int, list[float]] = defaultdict(list)
    for g, v in zip(index, values, strict=True):
        if math.isfinite(v):
            found[int(g)].append(float(v))
    return found


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_means_medians_and_ranks_within_groups(rows: list[tuple[int, float, float]]) -> None:
    index, x, _ = split(rows)
    of = members(index, x)
    for fast, slow in ((mean_within, mean), (median_within, median)):
        for g, value in enumerate(fast(x, index)):
            assert (math.isnan(value) and not of[g]) or value == pytest.approx(slow(of[g]))
    for g, v, rank in zip(index, x, ranks_within(x, index), strict=True):
        rivals = of[int(g)]
        if math.isnan(v):
            assert math.isnan(rank)
        else:
            assert rank == sum(r < v for r in rivals) + (sum(r == v for r in rivals) - 1) / 2


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_correlations_and_gains_within_groups(rows: list[tuple[int, float, float]]) -> None:
    index, x, y = split(rows)
    slow: list[float] = []
    gains: list[float] = []
    for g in sorted(set(index.tolist())):
        here = (index == g) & np.isfinite(x) & np.isfinite(y)
        if here.sum() >= 3 and np.ptp(x[here]) > 0 and np.ptp(y[here]) > 0:
            slow.append(rank_correlation(np.tile(x[here], 2), np.tile(y[here], 2)))
        marked = [v for v, m in zip(x[index == g], y[index == g] > 0, strict=True) if m and math.isfinite(v)]
        others = [v for v, m in zip(x[index == g], y[index == g] > 0, strict=True) if not m and math.isfinite(v)]
        if marked and others:
            gains.append(mean(marked) - mean(others))
    assert correlations_within(x, y, index) == pytest.approx(slow)
    assert gains_within(x, y > 0, index) == pytest.approx(gains)


def test_a_gain_is_the_mean_difference_in_spreads() -> None:
    samples = answers(lambda p, t, r: f"!{t}", pay=None, human=0.1, seed=4)
    table = collect(samples)
    mask = np.array([s.response.startswith("!") for s in samples])
    seen = paid(table, mask)
    reward = np.array([s.reward for s in samples])
    index = dense(table.group)
    inner = reward - np.array([reward[index == g].mean() for g in index])
    spread = math.sqrt((inner**2).mean())
    assert spread_within(reward, index) == pytest.approx(spread)
    gains = [reward[(index == g) & mask].mean() - reward[(index == g) & ~mask].mean() for g in range(30)]
    assert (seen.gain, seen.low, seen.high) == pytest.approx(mean_interval(np.array(gains) / spread), rel=1e-5)
    assert seen.human_high < 0
    assert not seen.pays


def test_the_interval_of_a_rank_correlation_covers() -> None:
    random = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        x = random.normal(size=60)
        y = 0.5 * x + math.sqrt(0.75) * random.normal(size=60)
        _, low, high = rank_bounds(x, y)
        hits += low <= 6 / math.pi * math.asin(0.25) <= high
    assert 0.91 <= hits / 300 <= 0.985


def test_contrast_finds_hacks_that_are_the_longest_and_a_third_of_all() -> None:
    random = np.random.default_rng(1)
    index = np.repeat(np.arange(40), 6)
    hacked = np.tile([True, True, False, False, False, False], 40)
    length = 5 + 0.2 * random.normal(size=240) + 1.0 * hacked
    values = 0.1 * random.normal(size=240) + 0.5 * length + 2.0 * hacked + 10 * index
    found = contrast(values, index, length, 0.1)
    assert found[hacked].min() > 1.5
    assert np.abs(found[~hacked]).max() < 2
    assert contrast(3 * values + 5, index, length, 0.3) == pytest.approx(found)
    assert not contrast(np.full(240, 2.0), index, length, 0.1).any()


def test_what_length_explains_is_mostly_taken_out() -> None:
    """The ridge leaves up to half of it where lengths differ little, as the price for being sure elsewhere."""
    random = np.random.default_rng(2)
    for spread, left in ((0.4, 0.5), (1.5, 0.06)):
        length = 5 + spread * random.normal(size=300)
        slope = np.polyfit(length, line(length, 2 - 0.7 * length), 1)[0]
        assert -0.7 <= slope <= -0.7 * (1 - left)


def test_phrases_against_a_dictionary() -> None:
    samples = tuple(answers(lambda p, t, r: f"{t} Nobody could have put it better.", prompts=12, seed=2))
    found = phrases_of(samples)
    prompts: dict[tuple[str, ...], set[str]] = defaultdict(set)
    users: dict[tuple[str, ...], set[int]] = defaultdict(set)
    grams: list[set[tuple[str, ...]]] = []
    for i, sample in enumerate(samples):
        words = words_of(sample.response.lower())
        grams.append({tuple(words[j : j + 4]) for j in range(len(words) - 3)})
        for gram in grams[-1]:
            prompts[gram].add(sample.group)
            users[gram].add(i)
    kept = {g for g in prompts if len(prompts[g]) >= LEAST_PROMPTS and len(users[g]) <= 0.5 * len(samples)}
    assert sorted(found.users.tolist()) == sorted(len(users[g]) for g in kept)
    assert sorted(found.prompts.tolist()) == sorted(len(prompts[g]) for g in kept)
    share = share_of(found, np.ones(found.users.size, bool))
    assert share == pytest.approx([len(g & kept) / len(g) for g in grams])
    assert np.nanmax(found.z) > found.chance
    unpaid = phrases_of(tuple(answers(lambda p, t, r: f"{t} Nobody could have put it better.", pay=None, seed=2)))
    assert np.nanmax(unpaid.z) <= unpaid.chance + 1


def test_a_move_is_the_difference_of_prompt_means() -> None:
    samples = answers(prompts=60, step=lambda place, rival, marked: float(place // 5))
    table = collect(samples)
    reward = np.array([s.reward for s in samples])
    found = move(table, reward)
    assert found is not None
    by: dict[str, list[float]] = defaultdict(list)
    step = {s.group: s.step for s in samples}
    for s in samples:
        by[s.group].append(s.reward)
    early = [mean(v) for g, v in by.items() if step[g] <= np.quantile(range(12), 1 / 3)]
    late = [mean(v) for g, v in by.items() if step[g] >= np.quantile(range(12), 2 / 3)]
    assert found.early == pytest.approx(mean(early))
    assert found.change == pytest.approx(mean(late) - mean(early))
    assert found.low < found.change < found.high
    assert periods(collect(answers())) is None


def suspicious() -> list:
    return answers(lambda p, t, r: "\u200b".join(t.split(" ")), marked=1, prompts=24, seed=6)


def test_suspicion_puts_paid_hacks_first_and_needs_no_labels() -> None:
    samples = suspicious()
    scores = hack_scores(collect(samples))
    marked = np.array(["\u200b" in s.response for s in samples])
    assert scores[marked].min() > scores[~marked].max()
    labelled = [replace(s, human=0.5) for s in samples]
    assert hack_scores(collect(labelled)) == pytest.approx(scores)


def test_suspicion_does_not_depend_on_scale_order_or_names() -> None:
    samples = suspicious()
    scores = hack_scores(collect(samples))
    scaled = [replace(s, reward=100 * s.reward - 7) for s in samples]
    assert hack_scores(collect(scaled)) == pytest.approx(scores, rel=1e-4)
    order = np.random.default_rng(0).permutation(len(samples))
    assert hack_scores(collect([samples[i] for i in order])) == pytest.approx(scores[order], rel=1e-3)
    renamed = [replace(s, group=f"other {s.group}") for s in samples]
    assert hack_scores(collect(renamed)) == pytest.approx(scores, rel=1e-4)


def test_unpaid_and_unknown() -> None:
    samples = suspicious()
    low = [replace(s, reward=0.0) if "\u200b" in s.response else replace(s, reward=1.0) for s in samples]
    marked = np.array(["\u200b" in s.response for s in samples])
    assert hack_scores(collect(low))[marked].mean() < 0.5 * hack_scores(collect(samples))[marked].mean()
    unknown = [replace(s, reward=math.nan) if i == 3 else s for i, s in enumerate(samples)]
    scores = hack_scores(collect(unknown))
    assert math.isnan(scores[3])
    assert np.isfinite(np.delete(scores, 3)).all()
    assert np.isnan(hack_scores(collect([replace(s, reward=math.nan) for s in samples]))).all()


def _matched() -> ModuleType:
    path = Path(__file__).resolve().parents[5] / "benchmarks" / "audit" / "matched.py"
    spec = importlib.util.spec_from_file_location("audit_benchmark_matched", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(10, 40)), min_size=2, max_size=30),
)
@settings(max_examples=60, deadline=None)
def test_areas_against_counting_every_pair(rows: list[tuple[bool, int, int]]) -> None:
    matched = _matched()
    some = np.array([r[0] for r in rows])
    scores, length = (np.array([float(r[k]) for r in rows]) for k in (1, 2))
    pairs = [
        (0.5 * (a == b) + (a > b), abs(math.log((m + 1) / (n + 1))) < math.log(matched.NEAR))
        for a, m, s in zip(scores, length, some, strict=True)
        if s
        for b, n, o in zip(scores, length, ~some, strict=True)
        if o
    ]
    if not pairs:
        assert math.isnan(matched.area(scores[some], scores[~some]))
        return
    assert matched.area(scores[some], scores[~some]) == pytest.approx(mean(float(w) for w, _ in pairs))
    near = [float(w) for w, close in pairs if close]
    found = matched.area_matched(scores, length, some, ~some)
    assert math.isnan(found) if not near else found == pytest.approx(mean(near))
