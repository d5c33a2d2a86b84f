"""Reading a table while its last line is being written: a number cut in half is a number, too, and a false one.

A writer with a buffer leaves `12,0.5,1.5e` for seconds, and `1.5` for `1.5e-05` would be an explosion. Such files are
read up to their last whole line, through a folder of links; formats that mark their records need no such care.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ...readers.discover import RunFiles
from ...runlog import RunLog

TEXT = frozenset({"table", "sb3", "sb3_monitor", "console", "rllib"})
"""Readers of lines without a mark for their end; half a line of JSON is no JSON and is left by itself."""
FOLDERS = {"torchrl_csv": "scalars", "mlflow": "metrics"}
"""Readers of folders of such files, and the folder inside that holds them."""
MOST_MEMBERS = 20_000
_PIECE = 1 << 16


def torn(files: RunFiles) -> list[Path]:
    """Return the files among `files` whose last line has no end yet."""
    single = [path for path, reader in files.files if reader.name in TEXT and path.is_file()]
    for path, reader in files.files:
        inner = FOLDERS.get(reader.name)
        if inner is not None:
            single += [file for file in _members(path) if inner in file.relative_to(path).parts]
    return [path for path in single if _open_ended(path)]


def _members(folder: Path) -> list[Path]:
    """Return the files below `folder`, at most so many."""
    return [path for path in islice(folder.rglob("*"), MOST_MEMBERS) if path.is_file()]


def _open_ended(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            if stream.seek(0, os.SEEK_END) == 0:
                return False
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) not in (b"\n", b"\r")
    except OSError:
        return False


@contextmanager
def whole_lines(files: RunFiles, cut: Iterable[Path]) -> Generator[Path]:
    """Yield a place that holds the run's `files`, those in `cut` only up to their last whole line."""
    shortened = set(cut)
    whole = [path for path, _ in files.files] + files.configs + files.samples
    broken = {path for path in whole if path.is_dir() and any(file.is_relative_to(path) for file in shortened)}
    stored = {file for path in broken for file in _members(path)}
    wanted = [path for path in whole if path not in broken] + sorted(stored)
    with tempfile.TemporaryDirectory(prefix="firstbreak") as folder:
        mirror = Path(folder) / (files.path.name or "run")
        for path in wanted:
            outside = not path.is_relative_to(files.path)
            target = mirror / path.name if outside else mirror / path.relative_to(files.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path in shortened:
                _copy_lines(path, target)
            elif path in stored:  # small files, and their reader follows no links
                shutil.copy2(path, target)
            else:
                target.symlink_to(path.resolve())
        yield mirror


def _copy_lines(source: Path, target: Path) -> None:
    """Copy `source` up to and with its last line end, and its times."""
    with source.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        end = _last_line_end(stream, size)
        stream.seek(0)
        with target.open("wb") as out:
            left = end
            while left and (piece := stream.read(min(left, 1 << 20))):
                out.write(piece)
                left -= len(piece)
    shutil.copystat(source, target)


def _last_line_end(stream: Any, size: int) -> int:
    """Return the length of `stream`, `size` bytes long, up to and with its last line end; 0 where there is none."""
    at = size
    while at > 0:
        start = max(0, at - _PIECE)
        stream.seek(start)
        found = stream.read(at - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def at_home(log: RunLog, mirror: Path, home: Path) -> RunLog:
    """Return `log`, read from `mirror`, with the paths of `home`."""

    def moved(path: str) -> str:
        return str(home) + path[len(str(mirror)) :] if path.startswith(str(mirror)) else path

    source = log.provenance
    return replace(
        log,
        path=moved(log.path),
        samples=tuple(map(moved, log.samples)),
        provenance=replace(
            source,
            read=tuple(map(moved, source.read)),
            left=tuple((moved(path), why) for path, why in source.left),
            problems=tuple(replace(p, path=moved(p.path)) for p in source.problems),
        ),
    )
