"""What the user may not read is told so: it is no unknown format, and no traceback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firstbreak.config import find_settings
from firstbreak.errors import UnreadableError
from firstbreak.readers.discover import discover
from firstbreak.readers.registry import all_readers

NOBODY = 65534


@contextmanager
def forbidden(path: Path) -> Iterator[None]:
    """Take all rights at `path` away for a while. Root may do anything, so be somebody else meanwhile."""
    all_readers()  # they are imported when first asked for, and Python may lie where nobody else may read
    me, mode = os.geteuid(), path.stat().st_mode
    for folder in path.parents:  # pytest's own, which nobody else may enter; one more beside other processes
        if not folder.stat().st_mode & 0o001:
            folder.chmod(0o755)
    path.chmod(0)
    if me == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(me)
        path.chmod(mode)


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "events.out.tfevents.1.host", "log.txt"])
def test_a_file_that_may_not_be_read_is_no_unknown_format(tmp_path: Path, name: str) -> None:
    log = tmp_path / name
    log.write_text("step,loss\n1,2\n")
    with forbidden(log), pytest.raises(UnreadableError, match="Permission denied"):
        discover(log)


def test_a_file_of_a_folder_that_may_not_be_read_is_left_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("step,loss\n1,2\n2,3\n")
    other = tmp_path / "other.csv"
    other.write_text("step,loss\n1,2\n2,3\n")
    with forbidden(other):
        (run,) = discover(tmp_path)
    assert [path.name for path, _ in run.files] == ["log.csv"]
    assert run.left == [(other, "cannot be read (Permission denied)")]


def test_a_folder_that_may_not_be_entered_is_told_and_holds_no_settings(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "log.csv").write_text("step,loss\n1,2\n")
    with forbidden(folder):
        assert find_settings(folder).select == ()
        with pytest.raises(UnreadableError, match="Permission denied"):
            discover(folder)
