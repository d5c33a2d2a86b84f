"""MLflow's file store: a real run, odd lines, damage."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError, UnreadableError
from firstbreak.readers.mlflow import READER, read, sniff
from firstbreak.readers.protocol import Options
from firstbreak.runlog import Recording

LOGS = Path(__file__).parents[2] / "data" / "logs"
REAL = next((LOGS / "mlflow_store").rglob("metrics")).parent


def said(recording: Recording) -> str:
    return "\n".join(map(str, recording.problems))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "metrics" / "train").mkdir(parents=True)
    (folder / "params").mkdir()
    (folder / "meta.yaml").write_text("run_id: r1\nrun_name: 'first try'\nstatus: 1\n")
    return folder


def test_real_run() -> None:
    recording = read(REAL, Options())
    assert sniff(REAL) == 1.0
    assert sniff(REAL.parent) == 0.0
    assert recording.problems == []
    assert recording.config == {"lr": 0.00025, "seed": 1}
    assert (recording.run_name, recording.ended) == ("ppo", "finished")
    assert [(e.name, e.at) for e in recording.events] == [("end", 5120.0)]
    curve = recording.curves["charts/SPS"]
    assert curve.step[:2].tolist() == [512.0, 1024.0]
    assert curve.value[:2].tolist() == [4890.0, 4791.0]
    assert curve.wall is not None
    assert curve.wall[0] == 1795205959.451
    assert len(recording.curves["charts/episodic_return"]) == 176
    assert recording.texts["mlflow.user"] == "root"


@pytest.mark.parametrize(("status", "ended"), [(1, ""), (3, "finished"), (4, "crashed"), (5, "crashed"), (9, "")])
def test_status(run: Path, status: int, ended: str) -> None:
    (run / "meta.yaml").write_text(f"run_id: r1\nstatus: {status}\n")
    (run / "metrics" / "x").write_text("1 2.0 3\n")
    assert read(run, Options()).ended == ended


def test_lines_of_every_kind(run: Path) -> None:
    (run / "metrics" / "train" / "kl").write_text(
        "1000 nan 0\n2000 inf 1\n3000 -0.5 1 data digest\n4000 7.5\nnot a line\n\n5000 oops 3\n6000 1.0 5\n7000 2."
    )
    recording = read(run, Options())
    curve = recording.curves["train/kl"]
    assert curve.step.tolist() == [0.0, 1.0, 1.0, 0.0, 5.0]
    assert math.isnan(curve.value[0])
    assert curve.value[1:].tolist() == [math.inf, -0.5, 7.5, 1.0]
    assert "line 5: 2 lines are not" in said(recording)
    assert "still being written" in said(recording)
    assert recording.run_name == "first try"


def test_nothing_usable(tmp_path: Path, run: Path) -> None:
    with pytest.raises(InputError, match=r"no meta\.yaml"):
        read(tmp_path / "missing", Options())
    assert "no metric" in said(read(run, Options()))
    (run / "params" / "name").write_bytes(b"\xff\xfe")
    (run / "metrics" / "empty").write_bytes(b"")
    recording = read(run, Options())
    assert recording.config == {"name": "��"}
    assert recording.curves == {}
    assert sniff(tmp_path) == sniff(tmp_path / "missing") == 0.0
    assert READER.folders


def test_links_out_of_the_run_are_not_followed(run: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("1 2 3\n")
    (run / "metrics" / "link").symlink_to(tmp_path / "elsewhere")
    assert read(run, Options()).curves == {}


def test_folder_that_cannot_be_read(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rglob", refuse)
    with pytest.raises(UnreadableError, match="Permission denied"):
        read(run, Options())


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=300), st.binary(max_size=100))
def test_random_contents_never_break_the_reader(
    tmp_path_factory: pytest.TempPathFactory, metric: bytes, meta: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzz"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "metrics").mkdir(parents=True)
    (folder / "params").mkdir()
    (folder / "meta.yaml").write_bytes(b"run_id: a\nstatus: 3\n" + meta)
    (folder / "params" / "p").write_bytes(meta)
    (folder / "metrics" / "m").write_bytes(b"1 2 3\n" + metric)
    recording = read(folder, Options())
    assert recording.curves["m"].value[0] == 2.0
