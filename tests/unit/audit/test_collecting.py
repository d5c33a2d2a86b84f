"""Collecting: columns, fingerprints, and which samples are kept with their texts."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.audit.collecting import Collector, collect
from firstbreak.audit.measure import Measure, Values
from firstbreak.audit.reservoir import MOST_CHARACTERS, Extremes, Groups, Reservoir, bytes_of, shortened
from firstbreak.audit.sample import NAN, Sample, Tokens, Turn
from firstbreak.audit.seen import Seen
from firstbreak.audit.table import KEPT, MOST_SCORES

FINGERPRINT_OF_P = int.from_bytes(bytes.fromhex("0d72d5bd89f3691f"), "little")
"""By `printf p | b2sum -l 64`."""
REWARDS = st.lists(st.sampled_from([0.0, 0.5, 1.0, -3.0, NAN]), max_size=40)


def some(count: int, seed: int = 0) -> list[Sample]:
    source = random.Random(seed)
    words = ["we", "add", "two", "numbers", "then", "the", "answer", "is", "so", "四"]
    return [
        Sample(
            prompt=f"add {i // 4} to 5",
            response=" ".join(source.choice(words) for _ in range(source.randrange(30))),
            reward=source.random(),
            row=i,
            step=float(i // 16),
            scores={"format": float(i % 2)},
        )
        for i in range(count)
    ]


def test_columns_say_what_the_log_said() -> None:
    samples = some(50)
    samples[7] = replace(samples[7], success=True, unsafe=False, versions=(3.0, 5.0), human=0.25, scores={"late": 2.0})
    table = collect(samples, "here")
    assert (table.path, table.n, table.groups) == ("here", 50, 13)
    assert np.allclose(table.columns["reward"], [s.reward for s in samples])
    for name, value in (("success", 1), ("unsafe", 0), ("versions_spanned", 2), ("human", 0.25), ("score/late", 2)):
        column = table.columns[name]
        assert column[7] == value
        assert np.isnan(np.delete(column, 7)).all()
    assert np.isnan(table.columns["score/format"][7])
    assert table.columns["score/format"][8] == 0
    assert table.get("advantage") is None
    assert table.row.tolist() == list(range(50))
    assert all(c.dtype == np.float32 and c.shape == (50,) for c in table.columns.values())
    assert not any(np.isnan(c).all() for c in table.columns.values())


def test_no_samples() -> None:
    table = collect([])
    assert (table.n, table.groups, dict(table.columns), table.drawn, table.top) == (0, 0, {}, (), ())


@settings(max_examples=10)
@given(st.permutations(range(24)))
def test_the_order_of_samples_orders_the_columns(order: list[int]) -> None:
    samples = some(24)
    plain, shuffled = collect(samples), collect([samples[i] for i in order])
    assert plain.columns.keys() == shuffled.columns.keys()
    for name, column in plain.columns.items():
        assert np.array_equal(column[order], shuffled.columns[name], equal_nan=True), name
    for marks in ("group", "response", "opening"):
        assert np.array_equal(getattr(plain, marks)[order], getattr(shuffled, marks))


def test_samples_that_come_twice_say_the_same_twice() -> None:
    once, twice = collect(some(20)), collect(some(20) * 2)
    for name, column in once.columns.items():
        assert np.array_equal(np.tile(column, 2), twice.columns[name], equal_nan=True), name


def test_names_of_groups_do_not_matter() -> None:
    plain = collect(some(24))
    named = collect([replace(s, group=f"group {s.prompt}!") for s in some(24)])
    assert plain.columns.keys() == named.columns.keys()
    assert (np.unique(plain.group, return_inverse=True)[1].size, plain.groups) == (24, named.groups)
    same = plain.group[:, None] == plain.group[None, :]
    assert np.array_equal(same, named.group[:, None] == named.group[None, :])


def test_equal_texts_have_equal_fingerprints_in_every_process() -> None:
    table = collect([Sample("p", "one two three four five six seven", row=i) for i in range(2)] + [Sample("p", "else")])
    assert table.response[0] == table.response[1] != table.response[2]
    assert table.opening[0] == table.opening[1]
    assert table.opening[2] == 0
    assert set(table.group.tolist()) == {FINGERPRINT_OF_P}


def test_a_measure_that_fails_does_not_stop_the_audit() -> None:
    def take(seen: Seen) -> Values:
        if seen.sample.row == 3:
            raise ValueError("odd")
        return (1.0,) if seen.sample.row > 1 else None

    collector = Collector((Measure({"text/own": "own"}, take, "own"),))
    for sample in some(6):
        collector.add(sample)
    table = collector.table()
    assert table.faults == {"own": "ValueError: odd"}
    assert np.array_equal(table.columns["text/own"], [NAN, NAN, 1, NAN, 1, 1], equal_nan=True)


def test_a_log_with_endless_names_of_scores() -> None:
    table = collect([Sample("p", "r", scores={f"s{i}": 1.0}) for i in range(MOST_SCORES + 25)])
    assert len(table.measured("score/")) == MOST_SCORES
    assert table.dropped_scores == 25


@given(REWARDS)
def test_extremes(rewards: list[float]) -> None:
    samples = [Sample("p", "r", reward=r, row=i) for i, r in enumerate(rewards)]
    top, bottom = Extremes(5), Extremes(5, sign=-1)
    for sample in samples:
        top.add(sample)
        bottom.add(sample)
    known = [s for s in samples if not math.isnan(s.reward)]
    assert list(top.samples()) == sorted(known, key=lambda s: -s.reward)[:5]
    assert list(bottom.samples()) == sorted(known, key=lambda s: s.reward)[:5]


def test_the_draw_is_even_and_in_order() -> None:
    counts = np.zeros(60)
    for seed in range(400):
        draw = Reservoir(12, seed=seed)
        for i in range(60):
            draw.add(Sample("p", "r", row=i))
        rows = [s.row for s in draw.samples()]
        assert rows == sorted(rows)
        assert len(rows) == 12
        counts[rows] += 1
    assert abs(counts / 400 - 0.2).max() < 0.09  # 4.5 standard errors


def test_a_small_file_is_drawn_whole() -> None:
    assert [s.row for s in collect(some(30)).drawn] == list(range(30))


def test_the_draw_gives_way_when_texts_are_long() -> None:
    draw = Reservoir(100, size=200_000)
    for i in range(300):
        draw.add(Sample("p", "x" * 10_000, row=i))
    kept = draw.samples()
    assert 5 <= len(kept) <= 9
    assert sum(map(bytes_of, kept)) <= 200_000


def test_groups_are_kept_whole() -> None:
    keeper, sizes = Groups(40), {}
    source = random.Random(1)
    for i in range(600):
        group = source.randrange(100) * (1 << 57)
        sizes[group] = sizes.get(group, 0) + 1
        keeper.add(group, Sample(str(group), "r", row=i))
    kept = keeper.samples()
    assert 25 < len(kept) <= 40
    for prompt in {s.prompt for s in kept}:
        assert sum(s.prompt == prompt for s in kept) == sizes[int(prompt)]


def test_one_group_of_everything_is_bounded() -> None:
    table = collect([Sample("p", "r", row=i) for i in range(500)])
    assert len(table.together) == 64


def test_long_samples_are_shortened() -> None:
    sample = Sample("p" * 10**6, "r" * 10**6, turns=(Turn("user", "t" * 10**6),), tokens=Tokens(tuple(range(10**5))))
    kept = shortened(sample)
    assert len(kept.response) < MOST_CHARACTERS + 20
    assert (kept.turns, kept.tokens) == ((), None)
    assert bytes_of(kept) < 200_000
    small = Sample("p", "r", turns=(Turn("user", "t"),))
    assert shortened(small) is small


def test_both_ends_of_the_reward_are_kept() -> None:
    table = collect(some(3 * KEPT))
    rewards = np.sort(table.columns["reward"])
    assert np.allclose([s.reward for s in table.bottom], rewards[:KEPT])
    assert np.allclose([s.reward for s in table.top], rewards[::-1][:KEPT])


@pytest.mark.parametrize("value", [1e300, -1e300, math.inf])
def test_rewards_beyond_single_precision(value: float) -> None:
    table = collect([Sample("p", "r", reward=value), Sample("p", "r", reward=1.0)])
    assert math.isinf(table.columns["reward"][0])
    assert table.columns["reward"][1] == 1
