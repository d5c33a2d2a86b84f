"""Contamination against a slow twin that compares every pair with Python's own sets."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.cli import main
from firstbreak.errors import InputError, UnknownNameError, UnreadableError
from firstbreak.evaluation.contamination.answers import carries, final_answer, leak_of
from firstbreak.evaluation.contamination.api import contamination
from firstbreak.evaluation.contamination.index import Index, Plan, build
from firstbreak.evaluation.contamination.matching import Matcher
from firstbreak.evaluation.contamination.minhash import ROWS, bands_for
from firstbreak.evaluation.contamination.sets import Vocabulary, different, sets_of
from firstbreak.evaluation.contamination.templates import Runs
from firstbreak.evaluation.contamination.words import grams, shingles, whole, words_of

fast = settings(deadline=None, max_examples=60)
texts = st.lists(st.text(st.sampled_from("ab AB.,+-3 éß你\n\0"), max_size=30), min_size=1, max_size=8)
ODD = "[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"


def slow_words(text: str) -> list[str]:
    return re.findall(rf"{ODD}|(?:(?!{ODD})\w)+|[-+*/=<>^%|&~]", text.casefold().replace("\0", " "))


def slow_runs(text: str, n: int = 3) -> set[tuple[str, ...]]:
    words = slow_words(text)
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def slow_overlap(one: str, other: str) -> float:
    a, b = slow_runs(one), slow_runs(other)
    return len(a & b) / len(a | b) if a | b else 0.0


def prompt(source: random.Random, words: int = 40) -> str:
    return " ".join(f"w{source.randrange(3000)}" for _ in range(words))


def write(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    return path


@fast
@given(texts)
def test_words_are_those_of_a_regular_expression(some: list[str]) -> None:
    found = words_of(some)
    assert found.counts.tolist() == [len(slow_words(t)) for t in some]
    flat = [w for t in some for w in slow_words(t)]
    by_hash: dict[int, str] = {}
    for h, w in zip(found.hashes.tolist(), flat, strict=True):
        assert by_hash.setdefault(h, w) == w
    assert len(by_hash) == len(set(flat))


@fast
@given(texts)
def test_runs_and_fingerprints_are_those_of_tuples(some: list[str]) -> None:
    words = words_of(some)
    slow = [tuple(slow_words(t)) for t in some]
    prints = whole(words).tolist()
    assert len(set(prints)) == len(set(slow))
    for made, n in ((grams(words, 2), 2), (shingles(words, 3), 3)):
        hashes, counts = made
        expected = [[w[i : i + n] for i in range(len(w) - n + 1)] or ([w] if n == 3 and w else []) for w in slow]
        assert counts.tolist() == [len(e) for e in expected]
        flat = [r for e in expected for r in e]
        assert len(set(zip(hashes.tolist(), flat, strict=True))) == len(set(flat)) == len(set(hashes.tolist()))
        assert sets_of(hashes, counts).sizes.tolist() == [len(set(e)) for e in expected]


def test_signs_count_and_punctuation_does_not() -> None:
    prints = whole(words_of(["What is 3 + 4?", "what IS 3+4", "What is 3 - 4?", "What is “3 + 4” …"])).tolist()
    assert prints[0] == prints[1] == prints[3] != prints[2]


@given(st.lists(st.integers(0, 2**52 - 1), max_size=50), st.lists(st.integers(0, 2**52 - 1), max_size=20))
def test_a_vocabulary_finds_what_is_in_it(inside: list[int], asked: list[int]) -> None:
    known = different(np.array(inside, np.uint64))
    questions = np.array(asked + inside, np.uint64)
    places = Vocabulary(known).places(questions)
    assert [p >= 0 for p in places.tolist()] == [q in set(inside) for q in questions.tolist()]
    assert all(known[p] == q for p, q in zip(places, questions, strict=True) if p >= 0)


def test_a_stretch_of_dull_runs_takes_what_reaches_into_it_and_no_more() -> None:
    hashes = np.arange(40, dtype=np.uint64)
    counts = np.array([20, 8, 12])
    inside = [*range(5, 13), 15, 16]  # eight on end in the middle of the first text; two
    edges = [20, 21, 27, 38, 39]  # two at the beginning, one at the end of the second; two at the end of the third
    left = Runs(hashes, counts, 3).without(Vocabulary(np.array(inside + edges, np.uint64)))
    assert left.hashes.tolist() == [0, 1, 2, *range(15, 20), *range(24, 36)]
    assert left.counts.tolist() == [8, 4, 8]


@pytest.mark.parametrize("threshold", [0.4, 0.7, 0.9])
def test_bands_miss_one_pair_in_a_thousand_at_the_threshold(threshold: float) -> None:
    missed = (1 - threshold**ROWS) ** bands_for(threshold)
    assert missed <= 0.001 < (1 - threshold**ROWS) ** (bands_for(threshold) - 1)


def test_near_duplicates_are_those_of_all_pairs() -> None:
    source = random.Random(2)
    held = [prompt(source, source.randint(8, 60)) for _ in range(120)]
    train = [prompt(source) for _ in range(300)]
    for item in range(0, 120, 2):
        words = held[item].split()
        for place in source.sample(range(len(words)), max(1, len(words) * (item % 5) // 25)):
            words[place] = "changed"
        train.append(" ".join(words))
    hits = Matcher(build(held, Plan(threshold=0.5))).match(train)
    found = dict(zip(zip(hits.near_text.tolist(), hits.near_row.tolist(), strict=True), hits.near_overlap, strict=True))
    held_runs = [slow_runs(one) for one in held]
    for i, one in enumerate(map(slow_runs, train)):
        for k, other in enumerate(held_runs):
            overlap = len(one & other) / len(one | other)
            if overlap >= 0.5:
                assert found.pop((i, k)) == pytest.approx(overlap)
    assert not found


def test_the_index_is_the_same_after_saving(tmp_path: Path) -> None:
    index = build([prompt(random.Random(i)) for i in range(20)], Plan())
    index.save(tmp_path)
    again = Index.load(tmp_path)
    assert (again.prompts, again.threshold) == (20, 0.7)
    assert np.array_equal(again.pairs, index.pairs)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    source = random.Random(1)
    held = [prompt(source) for _ in range(30)]
    train: list[object] = [{"prompt": prompt(source), "answer": "x"} for _ in range(200)]
    train[10] = {"question": held[3], "answer": "so #### 42"}
    train[20] = {
        "messages": [{"role": "user", "content": held[4].upper() + "!"}, {"role": "assistant", "content": "7"}]
    }
    near = held[5].split()
    near[7] = "other"
    train[30] = {"instruction": " ".join(near)}
    train[40] = {"prompt": f"{prompt(source, 200)} {' '.join(held[6].split()[:35])} {prompt(source, 200)}"}
    rows = [{"prompt": p, "answer": "#### 42" if i == 3 else "y"} for i, p in enumerate(held)]
    return write(tmp_path / "train.jsonl", train), write(tmp_path / "eval.jsonl", rows)


@pytest.mark.parametrize("processes", [1, 3])
def test_every_kind_of_match_with_both_rows(files: tuple[Path, Path], processes: int) -> None:
    found = contamination([files[0]], [files[1]], processes=processes)
    assert [(m.kind, m.eval_row, m.train_row) for m in found.matches] == [
        ("exact", 4, 11), ("normalised", 5, 21), ("near", 6, 31), ("shared", 7, 41),
    ]  # fmt: skip
    assert found.of("exact")[0].answered_rows == 1
    assert found.of("near")[0].similarity == pytest.approx(35 / 41)
    assert found.found_frac == pytest.approx(3 / 30)
    assert (found.train_rows, found.train_matched) == (200, 3)


def test_a_template_is_no_contamination(tmp_path: Path) -> None:
    source = random.Random(5)
    frame = "Please read the following problem with great care and then solve it step by step: {} Now write down the "
    frame += "final answer and nothing else at all."
    train = [{"prompt": frame.format(prompt(source, 12))} for _ in range(300)]
    held = [frame.format(prompt(source, 12)) for _ in range(60)]
    train[100] = {"prompt": held[7].split(": ")[1].split(" Now")[0]}  # the same problem without the frame
    found = contamination(
        [write(tmp_path / "t.jsonl", train)], [write(tmp_path / "e.jsonl", [{"prompt": p} for p in held])], processes=1
    )
    assert [(m.kind, m.eval_row, m.train_row) for m in found.matches] == [("near", 8, 101)]
    assert found.matches[0].similarity == 1
    assert slow_overlap(str(train[0]["prompt"]), held[0]) > 0.4
    assert found.template_runs > 10


def test_bad_rows_are_counted_and_the_others_compared(tmp_path: Path) -> None:
    text = "a sentence of words that is long enough to be compared"
    huge = " ".join(f"h{i}" for i in range(200_000))
    lines = [b"", b"{not json", b'{"prompt": "\xff\xfe caf\xe9"}', b"[1, 2]", b'{"prompt": ""}', b'{"prompt": null}',
             b'{"other": 3}', b'{"prompt": "\\ud800 lone"}', json.dumps({"query": text}).encode(),
             json.dumps({"prompt": huge}).encode()]  # fmt: skip
    (tmp_path / "t.jsonl").write_bytes(b"\n".join(lines))
    rows = [{"prompt": text}, {"prompt": ""}, {"prompt": "  \n"}, {"prompt": huge + " end"}, {"x": 1}, {"prompt": "?!"}]
    found = contamination([tmp_path / "t.jsonl"], [write(tmp_path / "e.jsonl", rows)], processes=1)
    assert [(m.kind, m.eval_row, m.train_row) for m in found.matches] == [("exact", 1, 8), ("near", 4, 9)]
    assert found.unreadable_rows == (2, 0)
    assert found.not_utf8_rows == (1, 0)
    assert (found.eval_rows, found.eval_prompts, found.train_rows) == (6, 3, 9)


def test_other_formats_hold_the_same(files: tuple[Path, Path], tmp_path: Path) -> None:
    from pyarrow import parquet, table

    rows = [json.loads(line) for line in files[1].read_text().splitlines()]
    with (tmp_path / "e.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["prompt", "answer"])
        writer.writeheader()
        writer.writerows(rows)
    parquet.write_table(table({"prompt": [r["prompt"] for r in rows]}), tmp_path / "e.parquet")
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(files[0].read_bytes()))
    (tmp_path / "e.json").write_text(json.dumps(rows))
    expected = [(m.kind, m.eval_row, m.train_row) for m in contamination([files[0]], [files[1]], processes=1).matches]
    for name in ("e.csv", "e.parquet", "e.json"):
        found = contamination([tmp_path / "t.jsonl.gz"], [tmp_path / name], processes=1)
        assert [(m.kind, m.eval_row, m.train_row) for m in found.matches] == expected


def test_several_files_name_their_own_rows(files: tuple[Path, Path]) -> None:
    found = contamination([files[1], files[0]], [files[1]], processes=2)
    assert len(found.of("exact")) == 30
    assert {m.train_file for m in found.matches} == {str(files[1])}
    assert {m.eval_row: m.train_rows for m in found.matches}[4] == 2


def test_wrong_input_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no prompts"):
        contamination([files[0]], [write(tmp_path / "n.jsonl", [{"x": 1}])])
    with pytest.raises(InputError, match="no prompts"):
        contamination([write(tmp_path / "n.jsonl", [{"x": 1}])], [files[1]], processes=1)
    with pytest.raises(InputError, match="data files end"):
        contamination([files[0]], [write(tmp_path / "e.txt", [])])
    with pytest.raises(UnreadableError):
        contamination([tmp_path / "none.jsonl"], [files[1]])
    with pytest.raises(UnknownNameError, match="prompt"):
        contamination([files[0]], [files[1]], columns={"promt": "x"})
    with pytest.raises(InputError, match="threshold"):
        contamination([files[0]], [files[1]], plan=Plan(threshold=0.1))


@pytest.mark.parametrize(
    ("prompt_", "answer", "kind"),
    [
        ("What is 2 + 2? Answer: 4", "4", "announced"),
        ("What is 2 + 2? Answer: 40", "4", ""),
        ("What is 2 + 2?", "4", ""),
        ("There are 4 cows. How many legs?", "#### 4", ""),
        ("Compute it. \\boxed{17}", "thus \\boxed{17}", "announced"),
        ("Translate. The quick brown fox jumps over it", "the quick  brown fox jumps over it", "whole"),
        ("Which?\nA) The quick brown fox jumps over it\nB) none", "The quick brown fox jumps over it", ""),
    ],
)
def test_prompts_that_give_their_answer_away(prompt_: str, answer: str, kind: str) -> None:
    assert leak_of(prompt_, answer) == kind


def test_answers_beside_a_prompt() -> None:
    assert final_answer("3 + 4 = 7\n#### 7") == "7"
    assert carries("we get 72. #### 72", "#### 72")
    assert not carries("we get 172", "#### 72")
    assert not carries("", "72")


@given(st.text(max_size=80), st.text(max_size=40))
@fast
def test_leaks_of_any_text_are_found_without_an_error(one: str, other: str) -> None:
    assert leak_of(one, other) in ("", "announced", "whole")
    assert carries(one, other) in (True, False)


def test_a_run_that_is_less_than_half_of_a_prompt_is_no_match_and_is_not_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = random.Random(3)
    held = [prompt(source, 40) for _ in range(20)]
    train = [{"prompt": prompt(source, 40)} for _ in range(50)]
    train[3] = {"prompt": f"{prompt(source, 80)} {' '.join(held[3].split()[:20])} {prompt(source, 80)}"}  # 8 of 28 runs
    train[4] = {"prompt": held[4]}  # all of its runs: a match, and no quote
    paths = write(tmp_path / "t.jsonl", train), write(tmp_path / "e.jsonl", [{"prompt": p} for p in held])
    found = contamination([paths[0]], [paths[1]], processes=1)
    assert [(m.kind, m.eval_row) for m in found.matches] == [("exact", 5)]
    assert found.quoted == 1
    main(["eval", "contamination", "--train", str(paths[0]), "--eval", str(paths[1])])
    said = " ".join(capsys.readouterr().out.split())
    assert "1 evaluation prompt with 13 words on end in training, but less than half of theirs" in said
    assert "no prompt with half of its long runs of words" in said
