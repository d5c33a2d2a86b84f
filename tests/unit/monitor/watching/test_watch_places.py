"""What became of files, told from their status alone."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from firstbreak.monitor.watching.places import Change, Move, changes, look_at


def moves(before: object, place: Path) -> dict[str, Move]:
    return {Path(c.path).name: c.move for c in changes(before.marks, look_at(place).marks)}  # type: ignore[attr-defined]


def test_each_move_of_a_file_has_its_name(tmp_path: Path) -> None:
    for name in ("grows", "stays", "shrinks", "touched", "replaced", "goes"):
        (tmp_path / name).write_text("abc\n")
    before = look_at(tmp_path)
    assert moves(before, tmp_path) == {}
    (tmp_path / "grows").write_text("abc\nd\n")
    (tmp_path / "shrinks").write_text("a")
    os.utime(tmp_path / "touched", (1, 1))
    (tmp_path / "other").write_text("abc\n")
    os.replace(tmp_path / "other", tmp_path / "replaced")
    (tmp_path / "goes").unlink()
    (tmp_path / "deep" / "new").parent.mkdir()
    (tmp_path / "deep" / "new").write_text("x")
    assert moves(before, tmp_path) == {
        "grows": Move.GREW,
        "shrinks": Move.TRUNCATED,
        "touched": Move.TOUCHED,
        "replaced": Move.REPLACED,
        "goes": Move.GONE,
        "new": Move.APPEARED,
    }


def test_a_single_file_and_a_place_that_is_not_there(tmp_path: Path) -> None:
    place = tmp_path / "log.csv"
    missing = look_at(place)
    assert (dict(missing.marks), missing.trouble) == ({}, "is not there")
    place.write_text("a\n")
    found = look_at(place)
    assert found.trouble == ""
    assert changes(missing.marks, found.marks) == (Change(Move.APPEARED, str(place)),)


def test_a_link_that_leads_nowhere_or_in_a_circle_is_trouble_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "void").symlink_to(tmp_path / "nothing")
    assert "cannot be reached" in look_at(tmp_path / "loop").trouble
    assert "cannot be reached" in look_at(tmp_path / "void").trouble
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "up").symlink_to(tmp_path)
    assert len(look_at(tmp_path).marks) == 0


def test_a_write_into_the_journal_of_a_database_is_seen(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    writer = sqlite3.connect(place)
    writer.execute("pragma journal_mode=wal")
    writer.execute("create table t (x)")
    writer.commit()
    before = look_at(place)
    writer.execute("insert into t values (1)")
    writer.commit()
    after = look_at(place)
    writer.close()
    assert [c.path for c in changes(before.marks, after.marks)] == [f"{place}-wal"]


def test_paths_are_those_that_readers_give(tmp_path: Path, monkeypatch: object) -> None:
    (tmp_path / "metrics.csv").write_text("a\n")
    here = Path.cwd()
    try:
        os.chdir(tmp_path)
        assert list(look_at(Path(".")).marks) == ["metrics.csv"]
    finally:
        os.chdir(here)
