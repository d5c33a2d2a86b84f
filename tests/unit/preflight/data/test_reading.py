"""Reading data files: formats, roles, junk, and a sample of bounded size."""

from __future__ import annotations

import contextlib
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError, UnknownNameError, UnreadableError
from firstbreak.inspection import Inspection
from firstbreak.preflight.data.api import inspect_data
from firstbreak.preflight.data.datafile import read_data
from firstbreak.preflight.data.fields import roles_of
from firstbreak.preflight.data.reading import Rows
from firstbreak.preflight.data.reservoir import BLOCK, Reservoir
from firstbreak.preflight.data.rows import sample_of
from firstbreak.preflight.data.text import reduce, text_of
from tests.unit.preflight.data.making import pairs, save, tasks, token_rows


def test_csv_json_and_parquet_say_the_same_as_json_lines(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rows = pairs(60)
    lines = save(tmp_path, rows)
    table = tmp_path / "train.csv"
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    whole = tmp_path / "list.json"
    whole.write_text(json.dumps(rows))
    columns = tmp_path / "train.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), columns)
    read = [read_data(path) for path in (lines, table, whole, columns)]
    for one in read:
        assert one.rows == 60
        assert one.roles == read[0].roles
        assert one.prompts.tolist() == read[0].prompts.tolist()
        assert one.samples[3].numbers == pytest.approx(read[0].samples[3].numbers)


def test_token_lists_in_a_table_are_read_from_their_text(tmp_path: Path) -> None:
    table = tmp_path / "tokens.csv"
    with table.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["input_ids", "labels", "attention_mask"])
        writer.writeheader()
        writer.writerows(token_rows(5))
    (first, *_) = read_data(table).samples
    assert first.tokens["input_ids"].tolist() == token_rows(5)[0]["input_ids"]


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (("question", "answer"), {"prompt": "question", "answer": "answer"}),
        (("Prompt", "Chosen", "Rejected"), {"prompt": "Prompt", "chosen": "Chosen", "rejected": "Rejected"}),
        (("instruction", "input", "output"), {"prompt": "instruction", "context": "input", "completion": "output"}),
        (("input", "output"), {"prompt": "input", "completion": "output"}),
        (
            ("prompt", "reward_model", "reward_model.ground_truth"),
            {"prompt": "prompt", "answer": "reward_model.ground_truth"},
        ),
    ],
)
def test_roles_are_known_by_their_usual_names(names: tuple[str, ...], roles: dict[str, str]) -> None:
    assert roles_of(names) == roles


def test_columns_can_be_named(tmp_path: Path) -> None:
    assert roles_of(["frage", "antwort"], {"prompt": "frage", "answer": "antwort"})["prompt"] == "frage"
    with pytest.raises(UnknownNameError, match="frage"):
        roles_of(["frage"], {"prompt": "frag"})
    with pytest.raises(UnknownNameError, match="prompt"):
        roles_of(["frage"], {"promt": "frage"})
    with pytest.raises(InputError, match="under a known name"):
        read_data(save(tmp_path, [{"step": 1, "loss": 2.0}]))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        read_data(tmp_path / "missing.jsonl")
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n\n")
    with pytest.raises(InputError, match="no row in it"):
        read_data(empty)
    (tmp_path / "random.csv").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_data(tmp_path / "random.csv")
    with pytest.raises(UnreadableError, match="a folder"):
        read_data(tmp_path)
    other = tmp_path / "data.bin"
    other.write_bytes(b"\0\1")
    with pytest.raises(InputError, match="end in"):
        read_data(other)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="Parquet"):
        read_data(broken)
    spoilt = tmp_path / "list.json"
    spoilt.write_text('[{"prompt": "a"}, ')
    with pytest.raises(InputError, match="not valid JSON"):
        read_data(spoilt)


def test_field_size_limit_of_csv_is_left_as_it_was(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    table = tmp_path / "long.csv"
    table.write_text("prompt\n" + "word " * 60_000 + "\n")
    assert read_data(table).samples[0].texts["prompt"].length == 300_000
    assert csv.field_size_limit() == before


def test_the_sample_is_bounded_and_keeps_neighbours(tmp_path: Path) -> None:
    data = read_data(save(tmp_path, tasks(3000)), rows=4 * BLOCK)
    assert data.rows == 3000
    assert not data.complete
    assert len(data.samples) <= 4 * BLOCK
    for block in data.blocks:
        numbers = [s.number for s in block]
        assert numbers == list(range(numbers[0], numbers[0] + len(block)))
    small = read_data(save(tmp_path, tasks(3000)), size=200_000)
    assert sum(s.size for s in small.samples) <= 200_000
    assert inspect_data(save(tmp_path, tasks(3000)), rows=4 * BLOCK).notes


def test_every_block_is_kept_equally_often() -> None:
    kept = [0] * 10
    for seed in range(200):
        reservoir = Reservoir(rows=3 * BLOCK, seed=seed)
        for number in range(10 * BLOCK):
            reservoir.add(sample_of(number, {}, {}))
        for block in reservoir.blocks():
            kept[block[0].number // BLOCK] += 1
    assert all(34 <= k <= 86 for k in kept), kept  # 60 expected, standard deviation 6.5


def test_no_text_of_the_file_is_in_the_answer(tmp_path: Path) -> None:
    secret = "xyzzy-secret"
    rows = [dict(r, prompt=f"{secret} {{question}}", chosen=secret, rejected=secret) for r in pairs(100)]
    seen = inspect_data(save(tmp_path, rows))
    assert seen.findings
    assert secret not in repr(seen.findings) + repr(seen.details) + repr(seen.skipped) + repr(seen.notes)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
CELLS = st.dictionaries(
    st.sampled_from(
        ["prompt", "chosen", "rejected", "answer", "input_ids", "labels", "attention_mask", "loss_mask", "messages",
         "score_chosen", "score_rejected", "prompt_length", "tool_mask"]
    ),
    JSON | st.lists(st.integers(-200, 200), max_size=12),
)  # fmt: skip


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(CELLS, max_size=12))
def test_no_cell_upsets_a_check(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    every = dict.fromkeys(("prompt", "chosen", "rejected", "answer", "input_ids", "labels", "loss_mask"))
    seen = inspect_data(save(tmp_path, [*rows, every, *rows]))
    assert seen.errors == ()
    assert seen.details["rows"] == 2 * len(rows) + 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\x85\u2028\u2029"))))
def test_junk_lines_are_counted(junk: list[str], tmp_path: Path) -> None:
    path = tmp_path / "junk.jsonl"
    path.write_text('{"prompt": "a"}\n' + "".join(f"{line}\n" for line in junk), "utf-8", newline="\n")
    source = Rows(path)
    read = sum(1 for _ in source)
    assert read + source.unreadable_rows == 1 + sum(1 for line in junk if line.strip())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.binary(max_size=300), ending=st.sampled_from(["jsonl", "csv", "tsv", "json", "parquet"]))
def test_junk_bytes_are_refused_or_counted(junk: bytes, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"junk.{ending}"
    path.write_bytes(junk)
    seen: Inspection | None = None
    with contextlib.suppress(InputError, UnreadableError):
        seen = inspect_data(path)
    assert seen is None or (seen.kind, seen.errors) == ("data", ())  # no check of ours failed on it


@given(text=st.text(max_size=9000))
def test_reducing_keeps_length_and_ends(text: str) -> None:
    one = reduce(text)
    assert one.length == len(text)
    assert text.startswith(one.head)
    assert text.endswith(one.end[-50:])
    assert one.empty == (not text.strip()) or len(text) > 4000
    assert reduce(text).exact == one.exact


def test_texts_of_cells() -> None:
    assert text_of([{"role": "user", "content": "a"}, {"from": "gpt", "value": "b"}]) == "a\nb"
    assert text_of([{"role": "user", "content": [{"type": "text", "text": "a"}]}]) == "a"
    assert text_of(42.0) == "42"
    assert text_of(float("nan")) is None
    assert text_of({"a": 1}) is None
