"""Tables of rewards: what is understood, and that nothing in a file can crash the reader."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.errors import FirstbreakError, InputError, UnknownNameError, UnreadableError
from firstbreak.preflight.reward import table
from firstbreak.preflight.reward.api import inspect_reward
from firstbreak.preflight.reward.table import read_table


def write(folder: Path, text: str, name: str = "rewards.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_columns_are_known_by_their_names(tmp_path: Path) -> None:
    path = write(tmp_path, "Prompt ID,score,human_score,tokens,component_a\np,1,0.5,12,1\np,nan,,13,0\nq,inf,1,9,2\n")
    found = read_table(path)
    assert found.rewards[0] == 1.0
    assert np.isnan(found.rewards[1])
    assert np.isinf(found.rewards[2])
    assert found.group.tolist() == [0, 0, 1]
    assert list(found.reference) == ["human_score"]
    assert list(found.components) == ["component_a"]
    assert found.length.tolist() == [12.0, 13.0, 9.0]


def test_jsonl_with_nested_components_and_words(tmp_path: Path) -> None:
    rows = [{"reward": k, "components": {"a": k, "b": 0}, "label": "good" if k else "bad"} for k in range(3)]
    found = read_table(write(tmp_path, "\n".join(map(json.dumps, rows)), "r.jsonl"))
    assert set(found.components) == {"components/a", "components/b"}
    assert found.reference["label"].tolist() == [0.0, 1.0, 1.0]
    assert read_table(write(tmp_path, json.dumps(rows), "r.json")).rewards.tolist() == [0.0, 1.0, 2.0]


def test_monitor_file_and_interleaved_episodes(tmp_path: Path) -> None:
    monitor = read_table(write(tmp_path, '#{"t_start": 1}\nr,l,t\n1.5,10,0.1\n2.5,11,0.2\n'))
    assert monitor.rewards.tolist() == [1.5, 2.5]
    mixed = read_table(write(tmp_path, "episode,reward\na,1\nb,10\na,2\nb,20\n"))
    assert mixed.returns.tolist() == [3.0, 30.0]


def test_nameless_parts_that_add_up(tmp_path: Path) -> None:
    lines = [f"{k},{2 * k % 7},{k + 2 * k % 7}" for k in range(30)]
    found = read_table(write(tmp_path, "progress,energy,total\n" + "\n".join(lines)))
    assert set(found.components) == {"progress", "energy"}


def test_without_reward_the_named_parts_are_summed(tmp_path: Path) -> None:
    path = write(tmp_path, "correct,format\n1,10\n0,10\n")
    assert read_table(path, components=("correct", "format")).rewards.tolist() == [11.0, 10.0]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", InputError),
        ("a,b\n1,2\n", InputError),
        ("reward\nhello\n", InputError),
        ("{not json}\n", InputError),
        ("[1, 2", InputError),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_hint(tmp_path: Path, text: str, error: type[FirstbreakError]) -> None:
    with pytest.raises(error) as caught:
        read_table(write(tmp_path, text))
    assert caught.value.hint


def test_missing_file_and_column(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        read_table(tmp_path / "none.csv")
    with pytest.raises(UnknownNameError):
        read_table(write(tmp_path, "reward\n1\n"), components=("speed",))


def test_long_tables_are_thinned_by_whole_episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_ROWS", 50)
    text = "episode,reward\n" + "".join(f"{k // 4},{k % 4}\n" for k in range(400))
    found = read_table(write(tmp_path, text))
    assert found.rewards.size <= 50
    assert set(found.returns) == {6.0}
    assert "400 rows" in found.notes[0]


CELLS = st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=4))


@given(st.lists(st.dictionaries(st.sampled_from(["reward", "episode", "group", "length", "x"]), CELLS), max_size=30))
def test_no_json_lines_crash_reader_or_checks(rows: list[dict[str, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), "\n".join(map(json.dumps, rows)), "r.jsonl")
        try:
            found = inspect_reward(path)
        except FirstbreakError:
            return
    assert found.errors == ()


@given(st.text(max_size=200))
def test_no_text_crashes_the_reader(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.csv"
        path.write_text("reward,b\n" + text, encoding="utf-8", errors="replace")
        try:
            found = read_table(path)
        except FirstbreakError:
            return
    assert found.rewards.size
    assert all(part.shape == found.rewards.shape for part in found.components.values())
