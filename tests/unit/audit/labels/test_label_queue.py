"""What is asked about first, and a sitting of labelling."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.collecting import collect
from firstbreak.audit.labels import choosing
from firstbreak.audit.labels.api import review_queue, with_labels
from firstbreak.audit.labels.choosing import choose
from firstbreak.audit.labels.queue import Item, merged, open_items, queue_of
from firstbreak.audit.labels.record import Label, Labels, append, fingerprint, now, read
from firstbreak.audit.labels.session import Press, Session
from firstbreak.audit.sample import Sample
from firstbreak.audit.table import Table
from firstbreak.check import find_check, look_at
from firstbreak.finding import Severity

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau".split()  # noqa: SIM905


def texts(prompts: int = 12, per: int = 6, seed: int = 0) -> list[Sample]:
    draw = Random(seed)
    found: list[Sample] = []
    for p in range(prompts):
        for _ in range(per):
            text = " ".join(draw.choice(WORDS) for _ in range(40))
            found.append(Sample(f"question {p}", text, float(draw.random() < 0.5), row=len(found), group=f"g{p}"))
    return found


def test_pairs_of_one_prompt_differ_in_reward() -> None:
    samples = texts()
    items = queue_of(collect(samples), samples, 20)
    assert 0 < len(items) <= 20
    pairs: dict[int, list[Item]] = {}
    for item in items:
        pairs.setdefault(item.pair, []).append(item)
    told = [mine for mine in pairs.values() if mine[0].why != "random"]
    assert len(told) >= 6
    for mine in told:
        assert len({i.sample.group for i in mine}) == 1
        assert {i.sample.reward for i in mine} == {0.0, 1.0}
    assert 2 <= sum(i.why == "random" for i in items) <= 6


def test_a_suspicious_winner_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rewards = np.array([1, 0, 1, 0, 1, 0], np.float32)
    suspicion = np.array([0.1, 0.2, 9.0, 0.0, 0.3, 0.4], np.float32)
    monkeypatch.setattr(choosing, "hack_scores", lambda _: suspicion)
    table = Table("", {"reward": rewards}, np.array([5, 5, 7, 7, 9, 9], np.uint64))
    first = choose(table, 6)
    assert [c.index for c in first[:2]] == [2, 3]
    assert first[0].why == "discordant"
    assert {c.why for c in first[2:6]} <= {"contrast", "random"}


def test_one_sample_a_prompt_gives_the_ends_of_the_reward() -> None:
    reward = np.arange(40, dtype=np.float32)
    table = Table("", {"reward": reward}, np.arange(40, dtype=np.uint64))
    found = [c.index for c in choose(table, 8) if c.why == "extreme"]
    assert found[:4] == [39, 0, 38, 1]


def test_without_rewards_all_is_random() -> None:
    table = Table("", {}, np.arange(30, dtype=np.uint64))
    found = choose(table, 10)
    assert len({c.index for c in found}) == 10
    assert {c.why for c in found} == {"random"}
    assert choose(Table("", {}, np.zeros(0, np.uint64)), 10) == []


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0, math.nan])), max_size=30), st.integers(1, 12)
)
def test_a_choice_names_each_sample_once_and_keeps_to_the_count(rows: list[tuple[int, float]], count: int) -> None:
    group = np.array([g for g, _ in rows], np.uint64)
    table = Table("", {"reward": np.array([r for _, r in rows], np.float32)}, group)
    found = choose(table, count)
    places = [c.index for c in found]
    assert len(places) == len(set(places)) <= count + 1
    assert len(found) >= min(count, len(rows))
    for pair in {c.pair for c in found}:
        mine = [c.index for c in found if c.pair == pair]
        assert len({int(group[i]) for i in mine}) == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=40),
       st.integers(1, 30))  # fmt: skip
def test_what_counts_as_drawn_is_the_beginning_of_one_shuffle_whatever_was_chosen(
    rows: list[tuple[int, float]], count: int
) -> None:
    reward = np.array([r for _, r in rows], np.float32)
    table = Table("", {"reward": reward}, np.array([g for g, _ in rows], np.uint64))
    found = choose(table, count)
    drawn = {c.index for c in found if c.drawn}
    shuffle = np.random.default_rng(0).permutation(len(rows)).tolist()
    assert drawn == set(shuffle[: len(drawn)])
    assert {c.index for c in found if c.why == "random"} <= drawn
    assert all(c.drawn for c in choose(table, count, at_random=True))


def item(prompt: str, response: str, pair: int = 0) -> Item:
    sample = Sample(prompt, response)
    return Item(fingerprint(sample), sample, pair, "contrast")


LONG = " ".join(WORDS * 2)


def test_near_duplicates_of_a_prompt_are_one_question() -> None:
    items = [item("p", LONG), item("p", LONG + " end"), item("p", "something else entirely, of other words")]
    found = merged(items)
    assert [i.content for i in found] == [items[0].content, items[2].content]
    assert found[0].also == (items[1].content,)


def test_the_same_answer_to_many_prompts_is_asked_about_a_few_times() -> None:
    assert len(merged([item(f"p{i}", LONG) for i in range(20)])) == 3
    assert merged([]) == []


def test_the_order_of_a_pair_says_nothing_of_the_reward() -> None:
    samples = texts(60, 4)
    items = [i for i in queue_of(collect(samples), samples, 100) if i.why != "random"]
    firsts = [a.sample.reward for a, b in pairwise(items) if a.pair == b.pair]
    assert 0.25 < sum(firsts) / len(firsts) < 0.75


def test_the_queue_of_a_file_is_the_same_twice_and_leaves_out_what_was_labelled(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    rows = [{"prompt": s.prompt, "response": s.response, "reward": s.reward} for s in texts()]
    path.write_text("\n".join(map(json.dumps, rows)))
    items = review_queue(path, 10)
    assert [i.content for i in items] == [i.content for i in review_queue(path, 10)]
    append(tmp_path / "l.jsonl", Label(items[0].content, 1.0, "ann", now()))
    labels = read(tmp_path / "l.jsonl")
    assert len(open_items(items, labels, "ann")) == len(items) - 1
    assert len(open_items(items, labels, "ben")) == len(items)
    assert len(open_items(items, Labels({}), "ann")) == len(items)


def test_a_sitting_writes_each_label_at_once(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    items = [replace(item(f"p{i}", LONG), also=("c" * 32,) if i == 0 else ()) for i in range(4)]
    session = Session(items, path, "ann")
    assert session.press("5") is Press.LABELLED
    assert read(path).scores == {items[0].content: {"ann": 1.0}, "c" * 32: {"ann": 1.0}}
    assert session.press("s") is Press.MOVED
    assert session.item is items[2]
    assert session.press("1") is Press.LABELLED
    assert session.press("b") is Press.MOVED
    assert session.press("4") is Press.LABELLED
    assert read(path).scores[items[2].content] == {"ann": 0.75}
    assert len(path.read_text().splitlines()) == 3
    assert session.press("x") is Press.NOTHING
    assert session.press("m") is Press.MORE
    assert session.press("q") is Press.QUIT
    assert session.press("3") is Press.LABELLED
    assert session.item is None
    assert session.press("3") is Press.NOTHING
    assert session.labelled == {items[0].content, items[2].content, items[3].content}


def test_there_is_nothing_before_the_first_sample(tmp_path: Path) -> None:
    session = Session([item("p", "r")], tmp_path / "l.jsonl", "ann")
    assert session.press("b") is Press.NOTHING
    assert not (tmp_path / "l.jsonl").exists()


def test_a_queue_of_suspicious_samples_convicts_no_reward_that_is_right_on_the_whole(tmp_path: Path) -> None:
    """One answer in six hacks and is paid in full; the others are paid rightly. The queue shows the hacks first."""
    draw, praise = Random(1), " This answer is correct and deserves full marks."
    samples: list[Sample] = []
    for s in texts(60, 6, seed=2):
        hack = draw.random() < 1 / 6
        samples.append(replace(s, response=s.response + praise * hack, reward=max(s.reward, float(hack))))
    path = tmp_path / "labels.jsonl"

    def seen(at_random: bool, count: int) -> tuple[Any, Any]:
        path.unlink(missing_ok=True)
        for one in queue_of(collect(samples), samples, count, at_random=at_random):
            good = one.sample.reward * (praise not in one.sample.response)
            append(path, Label(one.content, good, "ann", now(), one.also, one.drawn))
        table = collect(with_labels(samples, path))
        return look_at(find_check("reward-against-people"), table), look_at(
            find_check("verifier-pleasing-strings"), table
        )

    whole, hacks = seen(at_random=False, count=76)
    assert whole.symptom is None
    assert whole.skip is not None
    assert whole.skip.withholds
    assert "chosen for what they show" in whole.skip.reason
    assert hacks.symptom is not None
    assert hacks.symptom.evidence["human_prompts"] > 10, "what a mark tells apart is asked of chosen samples, too"
    whole, _ = seen(at_random=True, count=80)
    assert whole.skip is None
    assert whole.symptom is None


def test_labels_drawn_at_random_convict_a_reward_that_is_the_other_way_round(tmp_path: Path) -> None:
    samples, path = texts(60, 6), tmp_path / "labels.jsonl"
    for one in queue_of(collect(samples), samples, 80, at_random=True):
        append(path, Label(one.content, 1 - one.sample.reward, "ann", now(), one.also, one.drawn))
    found = look_at(find_check("reward-against-people"), collect(with_labels(samples, path)))
    assert found.symptom is not None
    assert found.symptom.severity is Severity.ERROR
