"""Files and folders as they really are: damaged, huge, mixed, hostile."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import socket
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from firstbreak import errors
from firstbreak.audit.reading import files
from firstbreak.audit.reading.api import read_samples
from firstbreak.audit.reading.report import ReadReport
from firstbreak.audit.sample import Sample

ROW = {"prompt": "Q", "completion": "A", "reward": 1.0}


def read(path: Path, **options: Any) -> tuple[list[Sample], ReadReport]:
    report = ReadReport()
    return list(read_samples(path, report=report, **options)), report


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_row_becomes_a_sample_with_its_place_and_source(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    lines(tmp_path / "a" / "x.jsonl", ROW, {**ROW, "reward": 0})
    samples, report = read(tmp_path)
    assert [(s.prompt, s.response, s.reward, s.row, s.source) for s in samples] == [
        ("Q", "A", 1.0, 0, "a/x.jsonl"),
        ("Q", "A", 0.0, 1, "a/x.jsonl"),
    ]
    assert report.rows == 2
    assert report.unreadable == 0
    assert dict(report.formats) == {"jsonl": 1}


def test_rows_without_rewards_are_samples(tmp_path: Path) -> None:
    ((one,), _) = read(lines(tmp_path / "x.jsonl", {"question": "Q", "output": "A"}))
    assert (one.prompt, one.response) == ("Q", "A")
    assert one.reward != one.reward


def test_an_empty_answer_is_an_answer_and_no_answer_is_none(tmp_path: Path) -> None:
    samples, report = read(lines(tmp_path / "x.jsonl", {**ROW, "completion": ""}, {**ROW, "completion": None}, ROW))
    assert [s.response for s in samples] == ["", "A"]
    assert report.unreadable == 1
    assert report.first[0].row == 1


def test_schemas_may_change_within_a_file(tmp_path: Path) -> None:
    rows = [ROW, {"input": "Q2", "output": "A2", "score": 0.5},
            {"messages": [{"role": "user", "content": "Q3"}, {"role": "assistant", "content": "A3"}],
             "rating": 4}]  # fmt: skip
    samples, _ = read(lines(tmp_path / "x.jsonl", *rows))
    assert [s.prompt for s in samples] == ["Q", "Q2", "Q3"]
    assert [s.response for s in samples] == ["A", "A2", "A3"]
    assert [s.reward for s in samples[:2]] == [1.0, 0.5]
    assert samples[2].human == 4


def test_not_finite_and_damaged_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"prompt": "Q", "response": "caf\xc3\xa9", "reward": NaN, "x": Infinity}\n'
        b'{"prompt": "Q", "response": "bad \xff\xfe", "reward": 1e999}\r\n'
        b"\n"
        b"not json\n"
        b"[1, 2]\n"
        b'{"prompt": "Q", "response": "A", "reward": 1, "reward": 0.25}\n'
        b'{"prompt": "Q", "response": "\\ud800", "reward": 1}\n' + b"[" * 100_000 + b"\n"
        b'{"prompt": "Q", "respon'
    )
    samples, report = read(path)
    assert [s.row for s in samples] == [0, 1, 4, 5]
    assert [s.reward for s in samples[2:]] == [0.25, 1.0]
    assert all(s.reward != s.reward for s in samples[:2])
    assert samples[0].scores == {}
    assert samples[0].response == "café"
    assert "\ufffd" in samples[1].response
    samples[3].response.encode()
    assert report.unreadable == 4
    assert [u.row for u in report.first] == [2, 3, 6, 7]
    assert report.mended["bytes that are not valid UTF-8 were replaced"] == 1
    assert report.mended["an infinite number was taken as not known"] == 2


def test_utf16_and_packed_files(tmp_path: Path) -> None:
    one, two = tmp_path / "x.jsonl", tmp_path / "y.jsonl.gz"
    one.write_text(json.dumps(ROW) + "\n" + json.dumps({**ROW, "prompt": "é"}, ensure_ascii=False), encoding="utf-16")
    two.write_bytes(gzip.compress(json.dumps(ROW).encode() + b"\n"))
    assert [s.prompt for s in read(one)[0]] == ["Q", "é"]
    assert len(read(two)[0]) == 1


def test_a_packed_file_that_is_cut_gives_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    rows = "".join(json.dumps({**ROW, "n": os.urandom(40).hex()}) + "\n" for _ in range(3000))
    path.write_bytes(gzip.compress(rows.encode())[:-20_000])
    samples, report = read(path)
    assert 10 < len(samples) < 3000
    assert any("cut or damaged" in note for note in report.notes)


def test_a_line_of_200_mb_is_passed_over_without_loading_it(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with path.open("wb") as stream:
        stream.write(json.dumps(ROW).encode() + b"\n" + b'{"prompt": "Q", "response": "')
        stream.seek(200 << 20, os.SEEK_CUR)  # a hole: no disk is used
        stream.write(b'"}\n' + json.dumps(ROW).encode() + b"\n")
    tracemalloc.start()
    samples, report = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [s.row for s in samples] == [0, 2]
    assert report.unreadable == 1
    assert "64 MiB" in next(iter(report.reasons))
    assert peak < 100 << 20


def test_reading_holds_one_row_at_a_time(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", *({**ROW, "completion": "A" * 1000, "n": i} for i in range(3000)))
    tracemalloc.start()
    for _ in read_samples(path):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


def test_empty_files_and_folders_are_errors_that_say_so(tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="no samples"):
        read(tmp_path)
    (tmp_path / "x.jsonl").write_bytes(b" \n\n")
    with pytest.raises(errors.InputError, match="empty"):
        read(tmp_path / "x.jsonl")
    with pytest.raises(errors.UnreadableError):
        read(tmp_path / "nowhere.jsonl")


def test_rows_without_any_known_column_are_an_error_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="no response"):
        read(lines(tmp_path / "x.jsonl", {"aaa": "Q", "bbb": "A"}))


def test_columns_are_taken_as_the_user_says(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", {"aaa": "Q", "bbb": "A", "ccc": 3, "reward": 1})
    ((one,), _) = read(path, columns={"prompt": "aaa", "response": "bbb", "reward": "ccc"})
    assert (one.prompt, one.response, one.reward) == ("Q", "A", 3)
    _, report = read(path, columns={"prompt": "aaa", "response": "bbb", "human": "zzz"})
    assert report.notes == ["Some rows have no column of the name that was given for human."]
    with pytest.raises(errors.UnknownNameError, match="role"):
        read(path, columns={"respons": "bbb"})
    with pytest.raises(errors.UnknownNameError, match="framework"):
        read(path, framework="nothing")


@pytest.mark.parametrize("name", ["x.pkl", "x.pt", "x.jsonl"])
def test_a_pickle_is_refused_and_never_opened(tmp_path: Path, name: str) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (os.mkdir, (str(tmp_path / "boom"),))

    (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(errors.InputError, match="pickle"):
        read(tmp_path / name)
    lines(tmp_path / "good.jsonl", ROW)
    assert len(read(tmp_path)[0]) == 1
    assert not (tmp_path / "boom").exists()


def test_pipes_and_sockets_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    place = os.getcwd()
    os.chdir(tmp_path)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as held:
            held.bind("s.jsonl")
    finally:
        os.chdir(place)
    lines(tmp_path / "x.jsonl", ROW)
    samples, report = read(tmp_path)
    assert len(samples) == 1
    assert report.left["a pipe, socket, device or broken link, never opened"] == 2
    with pytest.raises(errors.UnreadableError, match="not a plain file"):
        read(tmp_path / "pipe.jsonl")


def test_links_are_followed_once_and_loops_end(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    lines(tmp_path / "a" / "x.jsonl", ROW)
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "again.jsonl").symlink_to(tmp_path / "a" / "x.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    samples, _ = read(tmp_path)
    assert len(samples) == 1


def test_a_folder_of_too_many_files_is_read_up_to_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILES", 50)
    for i in range(80):
        lines(tmp_path / f"{i}.txt.jsonl", ROW)
    samples, report = read(tmp_path)
    assert len(samples) == 50
    assert any("beyond the first" in reason for reason in report.left)


def test_files_come_in_natural_order(tmp_path: Path) -> None:
    for name in ("step_10", "step_9", "step_1"):
        (tmp_path / name).mkdir()
        lines(tmp_path / name / "x.jsonl", {**ROW, "prompt": name})
    assert [s.prompt for s in read(tmp_path)[0]] == ["step_1", "step_9", "step_10"]


def test_other_files_of_a_run_are_passed_over(tmp_path: Path) -> None:
    lines(tmp_path / "metrics.jsonl", {"step": 1, "loss": 2.0})
    (tmp_path / "config.json").write_text('{"lr": 1}')
    (tmp_path / "progress.csv").write_text("step,loss\n1,2\n")
    lines(tmp_path / "samples.jsonl", ROW)
    samples, report = read(tmp_path)
    assert len(samples) == 1
    assert report.left["not a file of samples"] == 3


def test_a_csv_spells_everything_as_text(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('prompt,response,score,solved,fluency,messages\n"a ""b""\nc",A,0.5,yes,3,\nQ,A,,no,x,\nQ,A\n')
    samples, report = read(path)
    assert [s.prompt for s in samples] == ['a "b"\nc', "Q"]
    assert samples[0].reward == 0.5
    assert samples[0].success is True
    assert samples[0].scores == {"fluency": 3.0}
    assert samples[1].reward != samples[1].reward
    assert samples[1].success is False
    assert report.unreadable == 1


def test_one_json_list(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([ROW, 3, {**ROW, "reward": 0}], indent=1))
    samples, report = read(path)
    assert [s.reward for s in samples] == [1, 0]
    assert report.unreadable == 1
    path.write_text("[{")
    with pytest.raises(errors.InputError, match="not valid JSON"):
        read(path)


def test_parquet_with_nested_nulls(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    chat = [
        {"role": "user", "content": "Q", "tool_calls": None},
        {"role": "assistant", "content": "A", "tool_calls": None},
    ]
    table = pa.Table.from_pylist([{"messages": chat, "reward": 1.0, "extra": {"a": None, "b": 2.0}},
                                  {"messages": None, "reward": None, "extra": None},
                                  {"messages": [{**chat[0], "content": None}, chat[1]], "reward": None,
                                   "extra": None}])  # fmt: skip
    path = tmp_path / "x.parquet"
    parquet.write_table(table, path)
    samples, report = read(path)
    assert [(s.prompt, s.response) for s in samples] == [("Q", "A"), ("", "A")]
    assert samples[0].scores == {"extra.b": 2.0}
    assert report.unreadable == 1
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(errors.InputError, match="Parquet"):
        read(path)


def test_token_lists_that_do_not_fit_are_left_out_and_counted(tmp_path: Path) -> None:
    fitting = {**ROW, "prompt_ids": [1, 2], "response_ids": [3, 4], "loss_mask": [1, 0], "logprobs": [-1.0, -2.0]}
    samples, report = read(lines(tmp_path / "x.jsonl", fitting, {**fitting, "loss_mask": [1] * 9, "logprobs": [-1.0]},
                                 {**fitting, "response_ids": "text", "loss_mask": None}))  # fmt: skip
    assert samples[0].tokens is not None
    assert samples[1].tokens is not None
    assert samples[0].tokens.loss_mask == (0, 0, 1, 0)
    assert samples[0].tokens.logprobs == (-1.0, -2.0)
    assert samples[1].tokens.loss_mask == ()
    assert samples[1].tokens.logprobs == ()
    assert samples[2].tokens is None
    assert sum(report.mended.values()) == 2


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step_12/rollouts.jsonl", 12.0),
        ("run/global-step3.jsonl", 3.0),
        ("step_1/part_step_2.jsonl", 2.0),
        ("timestep.jsonl", None),
        ("footstep7.jsonl", None),
        ("a/b.jsonl", None),
    ],
)
def test_a_step_may_be_said_by_the_name_of_a_file_or_folder(tmp_path: Path, name: str, step: float | None) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"prompt": "q", "response": "a"}\n{"prompt": "q", "response": "a", "step": 5}\n', "utf-8")
    named, own = read_samples(path)
    assert own.step == 5.0
    assert (None if named.step != named.step else named.step) == step
