"""Trackio databases: a real one, several runs, damage; never written to."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError, UnreadableError
from firstbreak.readers.protocol import Options
from firstbreak.readers.trackio import READER, read, read_all, runs, sniff
from firstbreak.runlog import Recording

LOGS = Path(__file__).parents[2] / "data" / "logs"
REAL = LOGS / "trackio" / "feas.db"
TABLES = """
CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT);
CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name TEXT, config TEXT);
CREATE TABLE alerts (id INTEGER PRIMARY KEY, run_name TEXT, title TEXT, text TEXT, step INTEGER);
CREATE TABLE system_metrics (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, metrics TEXT);
"""


def said(recording: Recording) -> str:
    return "\n".join(map(str, recording.problems))


def make(path: Path, rows: list[tuple[str, int, str]], more: str = "") -> Path:
    with closing(sqlite3.connect(path)) as base:
        base.executescript(TABLES + more)
        for second, (name, step, metrics) in enumerate(rows):
            stamp = f"2026-01-01T00:00:{second % 60:02d}+00:00"
            base.execute(
                "INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?)",
                (stamp, name, step, metrics),
            )
        base.commit()
    return path


def test_real_database() -> None:
    before = REAL.stat(), sorted(REAL.parent.iterdir())
    recording = read(REAL, Options())
    assert sniff(REAL) == 1.0
    assert runs(REAL) == ["ppo"]
    assert recording.problems == []
    assert recording.config == {"lr": 0.00025}
    assert recording.run_name == "ppo"
    curve = recording.curves["charts/episodic_return"]
    assert len(curve) == 476
    assert curve.step[:3].tolist() == [0.0, 1.0, 2.0]
    assert curve.value[:2].tolist() == [15.0, 27.0]
    assert curve.wall is not None
    assert curve.wall[0] == 1795205952.995705
    after = REAL.stat(), sorted(REAL.parent.iterdir())
    assert (after[0].st_mtime_ns, after[1]) == (before[0].st_mtime_ns, before[1])


def test_values_alerts_system_metrics(tmp_path: Path) -> None:
    metrics = {"a": "NaN", "b": "-Infinity", "c": True, "d": {"e": 2}, "f": "note", "g": [1], "h": {"_type": "table"}}
    more = """
    INSERT INTO configs (run_name, config) VALUES ('r', '{"lr": 0.1, "_Created": "x"}');
    INSERT INTO alerts (run_name, title, text, step) VALUES ('r', 'KL', 'too high', 4), ('other', 'no', '', 1);
    INSERT INTO system_metrics (run_name, timestamp, metrics) VALUES ('r', '2026-01-01T00:00:01', '{"gpu": 50}');
    """
    rows = [("r", 4, json.dumps(metrics)), ("r", 5, '{"a": 1.5}'), ("r", 6, "not json"), ("r", 7, "[1]")]
    recording = read(make(tmp_path / "p.db", rows, more), Options())
    values = {key: curve.value.tolist() for key, curve in recording.curves.items()}
    assert math.isnan(values["a"][0])
    assert values["a"][1] == 1.5
    assert (values["b"], values["c"], values["d.e"], values["system.gpu"]) == ([-math.inf], [1.0], [2.0], [50.0])
    assert recording.curves["system.gpu"].step.tolist() == [5.0]
    assert recording.config == {"lr": 0.1}
    assert recording.texts == {"f": "note"}
    assert [(e.name, e.at, e.text) for e in recording.events] == [("alert", 4.0, "KL: too high")]
    assert "2 rows are not JSON objects" in said(recording)
    assert "'table'" in said(recording)
    assert "'list'" in said(recording)


def test_several_runs(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db", [("b", 0, '{"x": 1}'), ("a", 0, '{"x": 2}'), ("b", 1, '{"x": 3}')])
    assert runs(path) == ["b", "a"]
    assert "only the run 'b' was read; the database holds 1 more: a." in said(read(path, Options()))
    both = read_all(path, Options())
    assert [(r.run_name, r.curves["x"].value.tolist(), r.problems) for r in both] == [
        ("b", [1.0, 3.0], []),
        ("a", [2.0], []),
    ]
    assert READER.read_all is read_all


def test_live_database_with_a_write_ahead_log(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db", [("r", 0, '{"x": 1}')], "PRAGMA journal_mode = WAL;")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES ('t', 'r', 1, '{\"x\": 2}')")
        writer.commit()
        assert (tmp_path / "p.db-wal").stat().st_size > 0
        assert read(path, Options()).curves["x"].value.tolist() == [1.0, 2.0]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.db"]
    assert read(path, Options()).curves["x"].value.tolist() == [1.0, 2.0]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.db"]


def test_nothing_usable(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    for data in (b"", b"rubbish" * 50):
        path.write_bytes(data)
        assert sniff(path) == 0.0
        with pytest.raises(InputError, match="not an SQLite database"):
            read(path, Options())
    path.write_bytes(b"SQLite format 3\0" + b"rubbish" * 50)
    with pytest.raises(InputError, match="damaged SQLite"):
        read(path, Options())
    path.unlink()
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE other (x)")
    assert sniff(path) == 0.0
    with pytest.raises(InputError, match="not Trackio's"):
        read(path, Options())
    with pytest.raises(InputError, match="holds no run"):
        read(make(tmp_path / "empty.db", []), Options())
    with pytest.raises(UnreadableError):
        read(tmp_path / "missing.db", Options())


SMALL = [("r", i, json.dumps({"x": float(i), "pad": "y" * 200})) for i in range(60)]


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 255)), max_size=12),
    st.integers(100, 60_000),
    st.binary(max_size=20),
)
def test_damaged_databases_never_break_the_reader(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]], end: int, extra: bytes
) -> None:
    base = tmp_path_factory.getbasetemp()
    source, path = base / "source.db", base / "damaged.db"
    if not source.exists():
        make(source, SMALL)
    shutil.copy(source, path)
    data = bytearray(path.read_bytes())
    for place, byte in changes:
        data[place % len(data)] = byte
    data[end:end] = extra
    path.write_bytes(bytes(data[:end]))
    sniff(path)
    try:
        recordings = read_all(path, Options())
    except InputError:
        return
    for recording in recordings:
        for curve in recording.curves.values():
            assert np.isfinite(curve.step).all()
