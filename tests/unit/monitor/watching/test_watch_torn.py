"""A last line that is half written is left out, for a number cut in half is a false one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.loading import load_runs
from firstbreak.monitor.watching.sources import LocalSource
from firstbreak.monitor.watching.torn import _last_line_end, torn, whole_lines
from firstbreak.readers.discover import discover
from firstbreak.view import RunView

HEADER = "step,loss,lr\n"


def losses(place: Path, *, settled: bool = False) -> list[float]:
    source = LocalSource(place)
    source.look()
    (read,) = source.read(settled=settled)
    points = RunView(read.log, float("inf")).get("optim/loss_total")
    assert points is not None
    return points.value.tolist()


def test_a_number_cut_in_half_is_not_read_as_another_number(tmp_path: Path) -> None:
    place = tmp_path / "log.csv"
    place.write_text(HEADER + "1,0.5,0.1\n2,0.4,0.1\n3,1.5")
    assert losses(place) == [0.5, 0.4]
    place.write_text(HEADER + "1,0.5,0.1\n2,0.4,0.1\n3,1.5e-05,0.1\n")
    assert losses(place) == [0.5, 0.4, 1.5e-05]


def test_a_step_cut_in_half_does_not_look_like_a_resume(tmp_path: Path) -> None:
    place = tmp_path / "log.csv"
    place.write_text(HEADER + "".join(f"{i},0.5,0.1\n" for i in range(100, 120)) + "12")
    assert len(losses(place)) == 20


def test_the_line_counts_once_it_will_not_get_longer(tmp_path: Path) -> None:
    place = tmp_path / "log.csv"
    place.write_text(HEADER + "1,0.5,0.1\n2,0.4,0.1")
    assert losses(place) == [0.5]
    assert losses(place, settled=True) == [0.5, 0.4]


def test_the_run_keeps_its_own_paths_and_its_neighbours(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "deep").mkdir(parents=True)
    (run / "log.csv").write_text(HEADER + "1,0.5,0.1\n2,0.4,0.1\n3,0.")
    (run / "config.json").write_text('{"total_timesteps": 500, "algo": "ppo"}')
    source = LocalSource(run)
    source.look()
    (read,) = source.read()
    assert read.torn
    assert read.log.path == str(run)
    assert set(read.log.provenance.read) == {str(run / "log.csv"), str(run / "config.json")}
    assert read.log.config["total_steps"] == 500
    assert read.written == pytest.approx(max(f.stat().st_mtime for f in run.glob("*.*")))
    assert "/tmp/firstbreak" not in str(read.log)


def test_whole_files_and_lines_of_json_are_read_where_they_lie(tmp_path: Path) -> None:
    (tmp_path / "whole.csv").write_text(HEADER + "1,0.5,0.1\n2,0.4,0.1\n")
    (tmp_path / "log.jsonl").write_text('{"step": 1, "loss": 0.5}\n{"step": 2, "lo')
    assert [torn(files) for files in discover(tmp_path)] == [[]]
    (tmp_path / "whole.csv").write_text(HEADER + "1,0.5,0.1\n2,0.4,0.")
    assert [torn(files) for files in discover(tmp_path)] == [[tmp_path / "whole.csv"]]


def test_the_metrics_of_a_folder_store_are_cut_and_its_settings_are_not(tmp_path: Path, logs: Path) -> None:
    import shutil

    shutil.copytree(logs / "mlflow_store", tmp_path / "mlruns")
    metric = next((tmp_path / "mlruns").rglob("metrics/losses/entropy"))
    whole = metric.read_bytes()
    metric.write_bytes(whole[:-4])
    (files,) = discover(tmp_path / "mlruns")
    assert torn(files) == [metric]
    with whole_lines(files, torn(files)) as mirror:
        (log,) = load_runs(mirror)
    metric.write_bytes(whole[: whole[:-1].rfind(b"\n") + 1])
    (want,) = load_runs(tmp_path / "mlruns")
    assert {s.metric: len(s) for s in log.series} == {s.metric: len(s) for s in want.series}
    assert log.config == want.config


@given(st.lists(st.sampled_from([b"a" * 70_000, b"\n", b"12,3"]), max_size=6), st.integers(0, 3))
def test_the_last_line_end_is_found_however_far_back(pieces: list[bytes], pad: int) -> None:
    import io

    data = b"".join(pieces) + b"x" * pad
    assert _last_line_end(io.BytesIO(data), len(data)) == data.rfind(b"\n") + 1


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    (tmp_path / "log.csv").write_text(HEADER + "1,0.5,0.1\n2,0.4,0.1\n3,0.")
    assert losses(tmp_path / "log.csv") == [0.5, 0.4]
    assert os.listdir(tmp_path / "scratch") == []
