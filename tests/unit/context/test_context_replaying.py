"""Running again from a record: what is different is said first, and the code of then can be restored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firstbreak.cli import main
from firstbreak.context import store
from firstbreak.context.contents import Code, Context
from firstbreak.context.gathering import gather
from firstbreak.context.replaying import check, restore_code
from firstbreak.errors import InputError

SCRIPT = "import pathlib, sys\npathlib.Path(sys.argv[1]).write_text(pathlib.Path('lr.txt').read_text())\n"


def git(folder: Path, *words: str) -> None:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *words]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A repository with an uncommitted change, and data beside it."""
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    (work / "train.py").write_text(SCRIPT)
    (work / "lr.txt").write_text("committed")
    git(work, "add", ".")
    git(work, "commit", "-qm", "first")
    (work / "lr.txt").write_text("changed")
    (tmp_path / "data.txt").write_text("data")
    return work


def recorded(place: Path) -> Context:
    command = [sys.executable, "train.py", str(place.parent / "out.txt")]
    context = gather(command, place, data=[place.parent / "data.txt"], rewards=["train.py:reward"], seed=1)
    store.write(context, place.parent / "run")
    return store.read(place.parent / "run")


def test_nothing_differs_right_away(place: Path) -> None:
    seen = check(recorded(place))
    assert seen.same
    assert seen.differences == ()


@pytest.mark.parametrize("what", ["code", "data", "package"])
def test_each_change_is_found(place: Path, what: str) -> None:
    record = recorded(place)
    if what == "code":
        (place / "lr.txt").write_text("changed again")
    elif what == "data":
        (place.parent / "data.txt").write_text("other")
    else:
        record = Context(**{**vars(record), "packages": {**record.packages, "torch": "1.0.0"}})
    seen = check(record)
    assert not seen.same
    assert seen.serious[0].kind == what


def test_data_that_is_gone_a_removed_secret_and_no_folder_are_obstacles(place: Path) -> None:
    record = recorded(place)
    (place.parent / "data.txt").unlink()
    assert "data.txt is not there" in check(record).obstacles[0]
    hidden = Context(**{**vars(record), "command": ("python", "--api-key", "[removed]")})
    assert "--api-key" in " ".join(check(hidden).obstacles)
    gone = Context(**{**vars(record), "folder": str(place / "gone")})
    assert "not there" in check(gone).obstacles[0]


def test_the_code_of_then_is_restored_beside_that_of_now(place: Path) -> None:
    record = recorded(place)
    git(place, "checkout", "-q", "--", "lr.txt")
    inner = restore_code(record, place.parent / "then")
    assert (inner / "lr.txt").read_text() == "changed"
    assert (place / "lr.txt").read_text() == "committed"
    with pytest.raises(InputError, match="exists already"):
        restore_code(record, place.parent / "then")


@pytest.mark.parametrize(
    "code",
    [Code(), Code("a" * 40), Code("HEAD", "no diff at all", "x", 9), Code("HEAD", "", "x", 9, cut=True)],
    ids=["no commit", "unknown commit", "no diff", "cut"],
)
def test_code_that_cannot_be_restored_is_refused_and_leaves_nothing(place: Path, code: Code) -> None:
    record = Context("now", folder=str(place), code=code)
    with pytest.raises(InputError):
        restore_code(record, place.parent / "then")
    assert not (place.parent / "then").exists()


def test_the_command_replays_and_the_new_record_is_like_the_old(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = recorded(place)
    run = str(place.parent / "run")
    assert main(["replay", run, "--check"]) == 0
    assert "Nothing that matters differs" in capsys.readouterr().out
    assert main(["replay", run]) == 2
    git(place, "checkout", "-q", "--", "lr.txt")
    assert main(["replay", run, "--check"]) == 1
    assert main(["replay", run, "--run", str(place.parent / "again")]) == 2  # it differs, and --anyway was not said
    out = capsys.readouterr().out
    assert "uncommitted changes" in out
    assert "--worktree" in out
    then, again = str(place.parent / "then"), str(place.parent / "again")
    assert main(["replay", run, "--worktree", then, "--run", again]) == 0
    assert (place.parent / "out.txt").read_text() == "changed"
    assert store.read(again).code.diff_sha256 == old.code.diff_sha256
    assert main(["replay", run, "--anyway", "--run", again, "--add", "more words"]) == 0
    assert store.read(again).command[-2:] == ("more", "words")


def test_the_run_that_is_replayed_is_not_written_over_unless_that_is_said(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, again = place.parent / "run", str(place.parent / "again")
    run.mkdir()
    (place / "log.py").write_text("import pathlib, sys\npathlib.Path(sys.argv[1][6:], 'log.txt').write_text('new')\n")
    store.write(gather([sys.executable, "log.py", f"--out={run}"], place, seed=1), run)
    (run / "log.txt").write_text("old")
    assert main(["replay", str(run), "--run", again]) == 2
    assert "the logs of the old run would be lost" in capsys.readouterr().err
    assert (run / "log.txt").read_text() == "old"
    assert main(["replay", str(run), "--run", again, "--anyway"]) == 0
    assert (run / "log.txt").read_text() == "new"
    assert main(["replay", str(run), "--run", again, "--add", "elsewhere"]) == 0  # who adds words says where


def test_what_a_record_holds_is_shown_without_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nasty = Context(
        "now\x1b[2J", command=("echo", "\x1b]0;x\x07\u202e"), folder=str(tmp_path), packages={"a\x1b[1m": "1"}
    )
    store.write(nasty, tmp_path)
    main(["replay", str(tmp_path), "--check"])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize("when", ["then", "now"])
def test_where_no_version_is_known_nothing_is_said_to_be_the_same(
    place: Path, when: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = place / ".git"
    if when == "then":
        hidden.rename(place.parent / "git")
    recorded(place)
    if when == "now":
        hidden.rename(place.parent / "git")
    assert main(["replay", str(place.parent / "run"), "--check"]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "but cannot tell whether the code is the same" in out
    assert f"its version {when} is not known (" in out
    assert "Nothing that matters" not in out
