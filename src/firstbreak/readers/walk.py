"""Walks the folders below a path, bounded and safe from loops, and says to which run each belongs."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .protocol import Reader
from .registry import all_readers
from .sources import LIKELY

MAX_DEPTH = 10
MAX_FOLDERS = 20_000
SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "artifacts", "videos", "best_model"})
HIDDEN_READ = frozenset({".hydra", ".summary"})
PART_NAMES = frozenset(
    {"tb", "tensorboard", "tb_logs", "tensorboard_logs", "csv", "scalars", "ckpt", "ckpts", "checkpoint", "checkpoints",
     "files", "events", "summaries", ".summary", ".hydra", "completions", "params", "monitor", "monitors", "metrics",
     "samples", "rollouts", "evaluations", "config", "configs", "firstbreak"}
)  # fmt: skip
"""Folders that hold a part of the run in whose folder they lie."""
CHECKPOINT = re.compile(r"^(checkpoint|global_step|step|iter)[-_]?\d+$")

HPARAMS = re.compile(r"^\d{10}\.\d+$")
"""Folder that PyTorch's `SummaryWriter.add_hparams` makes for its one row: `str(time.time())`."""


@dataclass
class Folder:
    """A folder with the files in it. `run` is the folder of the run that it belongs to."""

    path: Path
    run: Path
    files: list[Path] = field(default_factory=list[Path])
    claimed: list[tuple[Path, Reader]] = field(default_factory=list[tuple[Path, Reader]])
    """Folders in it that one reader reads as a whole."""
    left: list[tuple[Path, str]] = field(default_factory=list[tuple[Path, str]])


def is_part(name: str) -> bool:
    """Whether a folder called `name` belongs to the run around it."""
    return name in PART_NAMES or CHECKPOINT.match(name) is not None


def folder_reader(path: Path) -> Reader | None:
    """Return the reader that reads the folder `path` as a whole, or None."""
    return next((reader for reader in all_readers() if reader.folders and reader.sniff(path) >= LIKELY), None)


def walk(root: Path) -> Iterator[Folder]:
    """Yield every folder from `root` down, outer ones first."""
    waiting: deque[tuple[Path, Path, int]] = deque([(root, root, 0)])
    visited: set[tuple[int, int]] = set()
    while waiting:
        path, run, depth = waiting.popleft()
        folder = Folder(path, run)
        for child in _list(folder, visited):
            reader = folder_reader(child)
            if reader is not None:
                folder.claimed.append((child, reader))
            elif depth >= MAX_DEPTH:
                folder.left.append((child, f"more than {MAX_DEPTH} folders deep"))
            elif len(visited) > MAX_FOLDERS:
                folder.left.append((child, f"more than {MAX_FOLDERS} folders below {root}"))
            else:
                waiting.append((child, _run_of(child, run), depth + 1))
        yield folder


def _run_of(child: Path, run: Path) -> Path:
    """Return the folder of the run that `child`, which lies in the run folder `run` or a part of it, belongs to."""
    parent = child.parent
    if is_part(child.name) or (HPARAMS.match(child.name) and any(parent.glob("*tfevents*"))):
        return run
    if parent.name == ".summary":  # Sample Factory: one folder a policy
        return run
    trained = parent.parent
    if parent.name == "runs" and (any(trained.glob("checkpoint-*")) or (trained / "trainer_state.json").exists()):
        return trained  # transformers: <output>/runs/<date>/events*
    return child


def _list(folder: Folder, visited: set[tuple[int, int]]) -> list[Path]:
    """Fill in the files of `folder`; return the folders in it that are new. A real folder comes before a link to it."""
    try:
        entries = sorted(os.scandir(folder.path), key=lambda entry: (entry.is_symlink(), entry.name))
    except OSError as error:
        folder.left.append((folder.path, f"cannot be listed ({error.strerror})"))
        return []
    folders: list[Path] = []
    for entry in entries:
        path = Path(entry.path)
        try:
            if not entry.is_dir():
                if entry.is_file():
                    folder.files.append(path)
                else:
                    folder.left.append((path, "a broken link, or not a file"))
            elif entry.name in SKIPPED or (entry.name.startswith(".") and entry.name not in HIDDEN_READ):
                folder.left.append((path, "a folder that holds no logs"))
            else:
                status = entry.stat()
                if (status.st_dev, status.st_ino) in visited:
                    folder.left.append((path, "a link to a folder that is read already"))
                else:
                    visited.add((status.st_dev, status.st_ino))
                    folders.append(path)
        except OSError as error:
            folder.left.append((path, f"cannot be opened ({error.strerror})"))
    return folders
