"""What compares samples with one another, against slow, obvious twins."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from firstbreak.audit.across.agreement import agreement
from firstbreak.audit.across.change import change, error_by_group, stages
from firstbreak.audit.across.diversity import distinct, diversity
from firstbreak.audit.across.mutual import retrieval
from firstbreak.audit.across.near import clusters, near_duplicates
from firstbreak.audit.across.shingles import overlap, shingles_of
from firstbreak.audit.across.triad import triad
from firstbreak.audit.across.within import correlation_within
from firstbreak.audit.sample import Sample
from firstbreak.audit.table import Table

VALUES = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, math.nan])
ROWS = st.lists(st.tuples(st.integers(0, 4), VALUES, VALUES), min_size=1, max_size=40)


def table(rows: list[tuple[int, float, float]], **more: object) -> Table:
    group, x, y = zip(*rows, strict=True)
    columns = {"reward": np.array(x, np.float32), "human": np.array(y, np.float32)}
    return Table("t", columns, np.array(group, np.uint64), **more)  # type: ignore[arg-type]


def members(rows: list[tuple[int, float, float]]) -> list[list[tuple[float, float]]]:
    known = [(g, x, y) for g, x, y in rows if not (math.isnan(x) or math.isnan(y))]
    return [[(x, y) for h, x, y in known if h == g] for g in sorted({g for g, _, _ in known})]


@given(ROWS)
def test_correlation_within_prompts(rows: list[tuple[int, float, float]]) -> None:
    xy = xx = yy = 0.0
    groups = 0
    for pairs in members(rows):
        a, b = (scipy_stats.rankdata(side) for side in zip(*pairs, strict=True))
        a, b = a - a.mean(), b - b.mean()
        if len(pairs) > 1 and a.any() and b.any():
            xy, xx, yy, groups = xy + a @ b, xx + a @ a, yy + b @ b, groups + 1
    found = correlation_within(table(rows), "human")
    if not groups:
        assert found is None
        return
    assert found is not None
    assert found.value == pytest.approx(xy / math.sqrt(xx * yy), abs=1e-9)
    assert found.groups == groups
    assert found.low <= found.value + 1e-9
    assert found.high >= found.value - 1e-9


@settings(max_examples=60)
@given(ROWS)
def test_agreement(rows: list[tuple[int, float, float]]) -> None:
    alike = against = tie_x = tie_y = 0
    for pairs in members(rows):
        for (x1, y1), (x2, y2) in combinations(pairs, 2):
            product = (x1 - x2) * (y1 - y2)
            alike, against = alike + (product > 0), against + (product < 0)
            tie_x, tie_y = tie_x + (x1 == x2 and y1 != y2), tie_y + (y1 == y2 and x1 != x2)
    found = agreement(table(rows))
    if alike + against + tie_x == 0:
        assert found is None
        return
    assert found is not None
    assert found.right_frac == pytest.approx((alike + tie_x / 2) / (alike + against + tie_x))
    assert found.pairs == alike + against + tie_x


def test_agreement_of_one_prompt_is_kendalls_tau_b() -> None:
    random = np.random.default_rng(0)
    x, y = random.integers(0, 5, 40), random.integers(0, 5, 40)
    found = agreement(table([(0, float(a), float(b)) for a, b in zip(x, y, strict=True)]))
    assert found is not None
    assert found.tau_b == pytest.approx(scipy_stats.kendalltau(x, y).statistic)
    assert (found.right_low, found.right_high) == (0, 1)


def pairs_of(prompts: int, noise: float, seed: int) -> list[tuple[int, float, float]]:
    random = np.random.default_rng(seed)
    truth = random.normal(size=(prompts, 6))
    return [
        (g, float(v + noise * random.normal()), float(v + noise * random.normal()))
        for g in range(prompts)
        for v in truth[g]
    ]


def test_intervals_hold_the_truth() -> None:
    """95 % intervals of 40 tables against the value of one very large one; at least 33 hold it (P = 2e-3)."""
    large = table(pairs_of(5_000, 1.0, 99))
    truth, right = correlation_within(large, "human"), agreement(large)
    assert truth is not None
    assert right is not None
    held = held_pairs = 0
    for seed in range(40):
        small = table(pairs_of(40, 1.0, seed))
        one, two = correlation_within(small, "human"), agreement(small)
        assert one is not None
        assert two is not None
        held += one.low <= truth.value <= one.high
        held_pairs += two.right_low <= right.right_frac <= two.right_high
    assert held >= 33
    assert held_pairs >= 33


@settings(max_examples=40)
@given(ROWS, st.randoms())
def test_order_and_names_do_not_matter(rows: list[tuple[int, float, float]], random: object) -> None:
    other = [(7 - g, x, y) for g, x, y in rows]
    random.shuffle(other)  # type: ignore[attr-defined]
    one, two = (correlation_within(table(r), "human") for r in (rows, other))
    assert (one is None) == (two is None)
    if one is not None and two is not None:
        assert one.value == pytest.approx(two.value)
        assert one.low == pytest.approx(two.low)


def test_a_prompt_at_another_step_is_another_group() -> None:
    rows = [(0, 0.0, 0.0), (0, 1.0, 1.0), (0, 10.0, 0.0), (0, 11.0, 1.0)]
    steps = {"step": np.array([1, 1, 2, 2], np.float32)}
    plain = table(rows)
    stepped = replace(plain, columns={**plain.columns, **steps})
    found, without = correlation_within(stepped, "human"), correlation_within(plain, "human")
    assert found is not None
    assert without is not None
    assert found.value == pytest.approx(1.0)
    assert without.value < 1


PIECE = "we add the two numbers and then we find that the sum of both is "


def answer(i: int, text: str, prompt: str = "") -> Sample:
    return Sample(prompt or f"question {i}", text, row=i)


def random_text(seed: int, words: int = 60) -> str:
    random = np.random.default_rng(seed)
    return " ".join(f"w{n}" for n in random.integers(0, 500, words))


def test_near_duplicates_are_what_all_pairs_say() -> None:
    texts = [random_text(i) for i in range(40)]
    texts += [t + " indeed" for t in texts[:10]] + [texts[0]] * 3 + ["", "", "short"]
    sets = [shingles_of(t) for t in texts]
    slow = [set(zip(*(t.split()[i:] for i in range(4)), strict=False)) or set(t.split()) for t in texts]
    for i, j in combinations(range(len(texts)), 2):
        union = len(slow[i] | slow[j])
        assert overlap(sets[i], sets[j]) == pytest.approx(len(slow[i] & slow[j]) / union if union else 1.0)
    found = clusters(sets)
    for i, j in combinations(range(len(texts)), 2):
        assert (found[i] == found[j]) == (overlap(sets[i], sets[j]) >= 0.8), (i, j)


def test_near_duplicates_within_and_between_prompts() -> None:
    random = [answer(i, random_text(i)) for i in range(20)]
    copies = [answer(i, PIECE * 3, prompt=f"other {i}") for i in range(5)]
    same = [answer(i, random_text(99), prompt="one") for i in range(5)]
    found = near_duplicates([*random, *copies, *same])
    assert found.alike_frac == pytest.approx(10 / 30)
    assert found.across_frac == pytest.approx(5 / 30)
    assert found.largest_frac == pytest.approx(5 / 30)
    assert near_duplicates(random).alike_frac == 0
    assert near_duplicates([]).samples == 0


def test_diversity_within_prompts_and_between() -> None:
    collapsed = [answer(i, PIECE * 2 + str(i // 4), prompt=f"p{i // 4}") for i in range(40)]
    varied = [answer(i, random_text(i), prompt=f"p{i // 4}") for i in range(40)]
    one, two = diversity(collapsed, collapsed), diversity(varied, varied)
    assert (one.within_overlap, one.groups) == (1, 10)
    assert one.across_overlap > 0.8
    assert two.within_overlap < 0.05
    assert one.distinct_2 < 0.1 < two.distinct_2
    alone = diversity(varied[:1], varied[:1])
    assert math.isnan(alone.within_overlap)
    assert math.isnan(alone.across_overlap)


@given(st.lists(st.text("ab c", max_size=12), max_size=6))
def test_distinct(texts: list[str]) -> None:
    samples = [answer(i, t) for i, t in enumerate(texts)]
    runs = [pair for t in texts for pair in zip(t.split(), t.split()[1:], strict=False)]
    expected = len(set(runs)) / len(runs) if runs else math.nan
    assert distinct(samples, 2) == pytest.approx(expected, nan_ok=True)


def test_prompts_are_found_from_answers_that_depend_on_them() -> None:
    names = [f"name{i}" for i in range(40)]
    asked = [f"how many apples has {n} with {i} friends" for i, n in enumerate(names)]
    follows = [answer(i, f"{names[i]} has many apples", prompt=asked[i]) for i in range(40)]
    template = [answer(i, "thank you, the answer is in the box", prompt=asked[i]) for i in range(40)]
    found, lost = retrieval(follows), retrieval(template)
    assert found is not None
    assert lost is not None
    assert found.found_frac == 1
    assert found.above_frac == 1
    assert lost.above_frac == 0.5
    assert lost.found_frac == pytest.approx(1 / 40)
    assert retrieval(follows[:1]) is None


def test_retrieval_counts_by_hand() -> None:
    prompts, responses = ["a b", "a c", "d"], ["b", "a", "nothing"]
    samples = [Sample(p, r) for p, r in zip(prompts, responses, strict=True)]
    found = retrieval(samples)
    assert found is not None
    assert found.above_frac == pytest.approx((1 + (0.5 + 1) / 2 + 0.5) / 3)
    assert found.found_frac == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_the_error_of_a_mean_over_groups() -> None:
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(50, dtype=np.uint64), 4)
    values = np.repeat(random.normal(size=50), 4)
    means = values.reshape(50, 4).mean(1)
    assert error_by_group(values, group) == pytest.approx(means.std(ddof=1) / math.sqrt(50))
    assert error_by_group(values, np.arange(200, dtype=np.uint64)) == pytest.approx(values.std(ddof=1) / math.sqrt(200))


def hacked(after: bool, seed: int, human_too: bool = False) -> Table:
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(100, dtype=np.uint64), 4)
    columns = {
        "reward": random.normal(1.0 * after, 1, 400),
        "human": random.normal(1.0 * (after and human_too), 1, 400),
        "text/words": random.normal(100 + 200 * after, 50, 400),
        "text/boxed": np.ones(400),
    }
    return Table("t", {n: c.astype(np.float32) for n, c in columns.items()}, group)


def test_the_triad_against_a_reference() -> None:
    seen = triad(replace(hacked(True, 1), reference=hacked(False, 0)))
    assert (seen.reward_up, seen.side_changed, seen.evaluation_kept_up) == (True, True, False)
    assert seen.holds
    assert seen.complete
    assert list(seen.side) == ["text/words"]
    gained = triad(replace(hacked(True, 1, human_too=True), reference=hacked(False, 0)))
    assert gained.evaluation_kept_up is True
    assert not gained.holds
    flat = triad(replace(hacked(False, 1), reference=hacked(False, 0)))
    assert (flat.reward_up, flat.side_changed) == (False, False)


def test_the_triad_over_the_steps() -> None:
    before, after = hacked(False, 0), hacked(True, 1)
    columns = {n: np.concatenate([before.columns[n], after.columns[n]]) for n in before.columns}
    columns["step"] = np.repeat(np.arange(8, dtype=np.float32), 100)
    both = Table("t", columns, np.concatenate([before.group, after.group]))
    seen = triad(both)
    assert seen.against == "first steps"
    assert seen.holds
    staged = stages(both)
    assert staged is not None
    moved = change(both, "reward", staged)
    assert moved is not None
    assert moved.before == pytest.approx(columns["reward"][:200].mean(), rel=1e-5)
    assert moved.after == pytest.approx(columns["reward"][-200:].mean(), rel=1e-5)


def test_without_steps_or_reference_the_triad_says_nothing() -> None:
    seen = triad(hacked(True, 1))
    assert (seen.against, seen.reward_up, seen.complete, seen.holds) == ("", None, False, False)
