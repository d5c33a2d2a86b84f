"""The ledger: tampering of every kind is found, two processes write at once, a killed writer loses nothing."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from firstbreak.cli import main
from firstbreak.errors import FirstbreakError, InputError, UnknownNameError, UnreadableError
from firstbreak.evaluation.ledger.ladder import climb, step_of
from firstbreak.evaluation.ledger.looks import looks_of, record, set_budget, standing, standings
from firstbreak.evaluation.ledger.store import Head, Ledger, TamperedError
from firstbreak.evaluation.protocol.protocol import of
from firstbreak.evaluation.statistics.selection import selection_gain
from firstbreak.release.looks import read_looks

PROTOCOL = of({"evaluation": {"name": "m", "dataset": "d", "metric": "x", "episodes": 3}})
OTHER = of({"evaluation": {"name": "m", "dataset": "d", "metric": "y", "episodes": 3}})


def look(path: Path, score: float, subject: str = "c", split: str = "dev") -> None:
    record(path, split, subject, PROTOCOL, score=score, noise=0.01, items=100)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "looks.db"
    for i in range(5):
        look(path, 0.5 + 0.01 * i, f"c{i}")
    return path


def edit(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for name in ("ledger_never_updated", "ledger_never_deleted"):
        sql = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
        connection.execute(f"DROP TRIGGER {name}")
        statements = (*statements, sql)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_whole_ledger_has_no_faults(ledger: Path) -> None:
    assert Ledger(ledger).faults() == []
    assert [one.score for one in looks_of(Ledger(ledger).entries())] == pytest.approx([0.5, 0.51, 0.52, 0.53, 0.54])


@pytest.mark.parametrize("statement", ["UPDATE ledger SET subject = 'x'", "DELETE FROM ledger WHERE number = 5"])
def test_the_file_itself_refuses_changes(ledger: Path, statement: str) -> None:
    connection = sqlite3.connect(ledger)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()


SWAP = (
    "UPDATE ledger SET number = 90 WHERE number = 2",
    "UPDATE ledger SET number = 2 WHERE number = 3",
    "UPDATE ledger SET number = 3 WHERE number = 90",
)


@pytest.mark.parametrize(
    ("statements", "sign"),
    [
        (("UPDATE ledger SET body = replace(body, '0.52', '0.92') WHERE number = 3",), "entry 3: changed"),
        (("UPDATE ledger SET time = '2020' WHERE number = 1",), "entry 1: changed"),
        (("DELETE FROM ledger WHERE number = 3",), "before entry 4: 1 deleted"),
        (("DELETE FROM ledger WHERE number = 1",), "before entry 2: 1 deleted"),
        (SWAP, "changed"),
        (("DELETE FROM ledger WHERE number > 3",), "2 entries cut off"),
        (("DELETE FROM ledger",), "5 entries cut off"),
        (("DELETE FROM ledger WHERE number = 3", "UPDATE ledger SET number = number - 1 WHERE number > 3"), "changed"),
    ],
    ids=["edited", "redated", "deleted", "first deleted", "swapped", "cut", "emptied", "closed up"],
)
def test_tampering_is_found_and_nothing_added_to_it(ledger: Path, statements: tuple[str, ...], sign: str) -> None:
    edit(ledger, *statements)
    assert any(sign in fault for fault in Ledger(ledger).faults()), Ledger(ledger).faults()
    with pytest.raises(TamperedError):
        look(ledger, 0.9)


def test_a_budget_does_not_hide_what_was_cut_off(ledger: Path) -> None:
    edit(ledger, "DELETE FROM ledger WHERE number >= 4")
    with pytest.raises(TamperedError, match="2 entries cut off"):
        set_budget(ledger, "dev", 9)
    assert any("cut off" in fault for fault in Ledger(ledger).faults())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger SET body = 'garbage' WHERE number = 2",
        "UPDATE ledger SET body = '{}' WHERE number = 2",
        "UPDATE ledger SET body = '[1]' WHERE number = 2",
        "UPDATE ledger SET split = 'mine' WHERE number = 2",
        "UPDATE ledger SET body = replace(body, '0.51', '\"high\"') WHERE number = 2",
    ],
)
def test_an_entry_that_is_no_look_any_more_is_named(
    ledger: Path, statement: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(ledger, statement)
    with pytest.raises(TamperedError, match="Entry 2"):
        looks_of(Ledger(ledger).entries())
    assert main(["eval", "ledger", "show", str(ledger)]) == 1
    assert "entry 2: changed" in capsys.readouterr().out
    assert read_looks(ledger).faults


def test_showing_an_empty_file_does_not_make_a_ledger_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "looks.db"
    path.touch()
    for action in ("show", "verify", "head"):
        assert main(["eval", "ledger", action, str(path)]) == 2
    assert "empty file" in capsys.readouterr().err
    assert path.stat().st_size == 0


def test_guards_that_were_removed_are_missed(ledger: Path) -> None:
    connection = sqlite3.connect(ledger)
    connection.execute("DROP TRIGGER ledger_never_deleted")
    connection.commit()
    connection.close()
    assert any("guard" in fault for fault in Ledger(ledger).faults())


def test_a_head_that_was_deleted_or_changed_is_a_fault(ledger: Path) -> None:
    head = Ledger(ledger).head_path
    head.write_text("5:" + "0" * 64)
    assert any("written anew" in fault for fault in Ledger(ledger).faults())
    head.write_text("nonsense")
    assert any("was changed" in fault for fault in Ledger(ledger).faults())
    head.unlink()
    assert any("missing" in fault for fault in Ledger(ledger).faults())


def test_a_ledger_that_was_removed_is_not_begun_anew_unseen(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger.unlink()
    with pytest.raises(TamperedError, match="is gone; the head beside it counts 5 entries"):
        look(ledger, 0.9)
    assert not ledger.exists()
    assert main(["eval", "ledger", "verify", str(ledger)]) == 2
    assert "is gone" in capsys.readouterr().err
    Ledger(ledger).head_path.unlink()  # on purpose, and said why
    look(ledger, 0.9)
    assert Ledger(ledger).faults() == []


def test_a_ledger_written_anew_is_found_by_a_head_kept_elsewhere(ledger: Path) -> None:
    noted = Head.parse(str(Ledger(ledger).head()))
    ledger.unlink()
    Ledger(ledger).head_path.unlink()
    for i in range(6):
        look(ledger, 0.9, f"c{i}")
    assert Ledger(ledger).faults() == []
    assert any("written anew" in fault for fault in Ledger(ledger).faults(noted))


def test_an_older_head_is_part_of_a_longer_ledger(ledger: Path) -> None:
    noted = Ledger(ledger).head()
    look(ledger, 0.1)
    assert Ledger(ledger).faults(noted) == []


WRITER = """
import sys
from pathlib import Path
from firstbreak.evaluation.ledger.looks import record
from firstbreak.evaluation.protocol.protocol import of
protocol = of({"evaluation": {"name": "m", "dataset": "d", "metric": "x", "episodes": 3}})
for i in range(int(sys.argv[3])):
    record(Path(sys.argv[1]), "dev", f"{sys.argv[2]}{i}", protocol, score=0.5, noise=0.01, items=9)
    print(i, flush=True)
"""


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "looks.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, "8"], stdout=subprocess.DEVNULL)
        for name in "ab"
    ]
    assert [w.wait() for w in writers] == [0, 0]
    looks = looks_of(Ledger(path).entries())
    assert Ledger(path).faults() == []
    assert sorted(one.subject for one in looks) == sorted(f"{n}{i}" for n in "ab" for i in range(8))


def test_a_killed_writer_leaves_a_whole_ledger(tmp_path: Path) -> None:
    path = tmp_path / "looks.db"
    random.seed(0)
    told = 0
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), "k", "1000"], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(random.randint(2, 6)):
            writer.stdout.readline()
            told += 1
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert Ledger(path).faults() == []
        assert len(Ledger(path).entries()) >= told
    look(path, 0.5)
    assert Ledger(path).faults() == []


def test_files_that_are_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="no such ledger"):
        Ledger(tmp_path / "none.db").entries()
    (tmp_path / "text.db").write_text("not a database, but long enough to be looked at" * 40)
    with pytest.raises(UnreadableError, match="cannot be used"):
        Ledger(tmp_path / "text.db").entries()
    connection = sqlite3.connect(tmp_path / "foreign.db")
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    with pytest.raises(UnreadableError, match="no ledger"):
        look(tmp_path / "foreign.db", 0.5)
    with pytest.raises(InputError):
        Head.parse("3")


def test_budgets_are_counted_over_protocols_and_changed_on_the_record(tmp_path: Path) -> None:
    path = tmp_path / "looks.db"
    for protocol in (PROTOCOL, OTHER, PROTOCOL):
        _, where = record(path, "private_test", "c", protocol, score=0.5, noise=0.01, items=100)
    assert (where.looks, where.budget_looks, where.left) == (3, 3, 0)
    _, where = record(path, "private_test", "c", PROTOCOL, score=0.5, noise=0.01, items=100)
    assert where.looks == 4
    set_budget(path, "private_test", 6, "new data")
    assert standing(Ledger(path).entries(), "private_test", PROTOCOL.hash).left == 2
    assert len(standings(Ledger(path).entries())) == 2
    with pytest.raises(UnknownNameError, match="private_test"):
        record(path, "privat_test", "c", PROTOCOL, score=0.5, noise=0.01, items=100)
    with pytest.raises(InputError):
        set_budget(path, "dev", -1)


def test_the_gain_of_choosing_counts_subjects_once(tmp_path: Path) -> None:
    path = tmp_path / "looks.db"
    for subject in ("a", "a", "b", "c"):
        look(path, 0.5, subject)
    found = standing(Ledger(path).entries(), "dev", PROTOCOL.hash)
    assert found.subjects == 3
    assert found.gain == pytest.approx(selection_gain(3, 0.01))


def test_the_ladder_tells_progress_only(tmp_path: Path) -> None:
    path = tmp_path / "looks.db"
    told = [
        record(path, "public_test", f"c{i}", PROTOCOL, score=s, noise=0.01, items=100)[0].told
        for i, s in enumerate((0.70, 0.708, 0.69, 0.75, 0.755))
    ]
    assert told == pytest.approx([0.70, 0.70, 0.70, 0.75, 0.75])
    with pytest.raises(InputError, match="single item"):
        record(path, "public_test", "d", PROTOCOL, score=1.0, noise=None, items=1)


def test_the_ladder_withstands_an_attack_that_raw_scores_do_not() -> None:
    """Random answers are submitted, those said to be good are kept, their majority is the model: it is worth nothing,
    yet scores well on the set that chose it (Blum and Hardt 2015, arXiv 1502.04585, section 4)."""
    random_ = np.random.default_rng(0)
    items, noise = 400, 0.5 / np.sqrt(400)
    answers = random_.integers(2, size=(200, items))
    truth = random_.integers(2, size=items)
    scores = (answers == truth).mean(axis=1)
    best, kept = None, []
    for one, score in zip(answers, scores, strict=True):
        rung = climb(best, float(score), step_of(noise, noise))
        best = rung.told
        kept += [one] if rung.improved else []

    def majority(chosen: list[np.ndarray]) -> float:  # type: ignore[type-arg]
        return float(((np.mean(chosen, axis=0) > 0.5) == truth).mean())

    assert majority(list(answers[scores > 0.5])) > 0.65
    assert majority(kept) < 0.6
    assert len(kept) <= 4


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_head_whose_writing_is_interrupted_stays_the_old_one(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    """The entry was committed before its head: the head lags, which is no fault, and the next look renews it."""
    before = Ledger(ledger).head_path.read_text()

    def interrupted(*_: object) -> None:
        raise stop

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", interrupted)
        with pytest.raises((stop, FirstbreakError)):
            look(ledger, 0.6, "interrupted")
    assert Ledger(ledger).head_path.read_text() == before
    assert sorted(path.name for path in ledger.parent.iterdir()) == ["looks.db", "looks.db.head"]
    assert [one.subject for one in looks_of(Ledger(ledger).entries())][-1] == "interrupted"
    assert Ledger(ledger).faults() == []
    look(ledger, 0.7, "next")
    assert Ledger(ledger).faults() == []
    assert Ledger(ledger).head_path.read_text() == f"{Ledger(ledger).head()}\n"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_first_head_whose_writing_is_interrupted_leaves_no_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    def interrupted(*_: object) -> None:
        raise stop

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", interrupted)
        with pytest.raises((stop, FirstbreakError)):
            look(tmp_path / "looks.db", 0.6)
    assert Ledger(tmp_path / "looks.db").entries() == []
    look(tmp_path / "looks.db", 0.6)
    assert Ledger(tmp_path / "looks.db").faults() == []
