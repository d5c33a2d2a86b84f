"""Finds the runs at a path: which files belong to one run, which reader reads each, what was left and why."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import InputError
from .protocol import Reader
from .registry import all_readers
from .run_config import is_config
from .sources import LAST_RESORT, LIKELY, UNKNOWN, choose, is_samples, reason_left
from .textfile import unreadable
from .walk import folder_reader, is_part, walk

MAX_FILES = 200_000
NAMED = 5
"""How many names of unknown files an error shows."""


@dataclass
class RunFiles:
    """The files of one run. `left` says of every other file why it was not read."""

    path: Path
    files: list[tuple[Path, Reader]] = field(default_factory=list[tuple[Path, Reader]])
    configs: list[Path] = field(default_factory=list[Path])
    samples: list[Path] = field(default_factory=list[Path])
    left: list[tuple[Path, str]] = field(default_factory=list[tuple[Path, str]])


def discover(path: Path) -> list[RunFiles]:
    """Return the runs at `path`, a file or a folder of one or many runs, sorted by path.

    Raises:
        InputError: it does not exist, or no file of a known format is there.
        UnreadableError: it cannot be listed.
    """
    try:
        if not path.exists():
            raise _missing(path)
        whole = folder_reader(path)
        if whole is not None:
            return [RunFiles(path, [(path, whole)])]
        if not path.is_dir():
            return [_single(path)]
        next(path.iterdir(), None)  # a folder that cannot be listed is an error, not an empty one
        return _in_folder(path)
    except OSError as error:
        raise unreadable(path, error) from error


def _missing(path: Path) -> InputError:
    if path.is_symlink():
        return InputError(f"{path}: the link leads nowhere ({os.readlink(path)}).", "Give the place of the log itself.")
    try:
        siblings = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        siblings = []
    close = difflib.get_close_matches(path.name, siblings, n=3, cutoff=0.6)
    hint = f"Did you mean {' or '.join(str(path.parent / name) for name in close)}?" if close else "Check the path."
    return InputError(f"{path}: no such file or folder.", hint)


def known_formats() -> str:
    """Return the sentence that lists the formats that can be read."""
    formats = ", ".join(reader.title for reader in all_readers())
    return f"Known formats: {formats}. Of printed text, lines that name a step are read: `step 20 | reward 1.5`."


def _single(path: Path) -> RunFiles:
    if not path.is_file():
        raise InputError(f"{path} is neither a file nor a folder.", "Give a log file, or the folder of a run.")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty.", "Give the run time to write its first metrics.")
    chosen = choose(path)
    if chosen is None:
        with path.open("rb"):  # what may not be read is told so, and is no unknown format
            why = reason_left(path, chosen)
        told = "" if why == UNKNOWN else f" ({why})"
        raise InputError(f"{path}: not a log in any known format{told}.", known_formats())
    return RunFiles(path, [(path, chosen[1])])


def _in_folder(root: Path) -> list[RunFiles]:
    runs: dict[Path, RunFiles] = {}
    count = 0
    for folder in walk(root):
        run = runs.setdefault(folder.run, RunFiles(folder.run))
        run.left.extend(folder.left)
        for child, reader in folder.claimed:
            owner = folder.run if is_part(child.name) else child
            runs.setdefault(owner, RunFiles(owner)).files.append((child, reader))
        for file in folder.files:
            count += 1
            if count > MAX_FILES:
                run.left.append((file, f"more than {MAX_FILES} files below {root}; the rest was not looked at"))
                break
            _sort_in(file, run)
    return _with_logs(root, runs)


def _sort_in(file: Path, run: RunFiles) -> None:
    """Put `file` where it belongs in `run`."""
    chosen = choose(file)
    if is_samples(file, chosen):
        run.samples.append(file)
    elif chosen is not None and chosen[0] >= LIKELY:
        run.files.append((file, chosen[1]))
    elif is_config(file):
        run.configs.append(file)
    else:
        run.left.append((file, reason_left(file, chosen)))


def _with_logs(root: Path, runs: dict[Path, RunFiles]) -> list[RunFiles]:
    """Return the runs that have logs; what lies in folders without any goes to the nearest run, or the first."""
    found = [run for run in runs.values() if run.files]
    near = {_branch(run.path, root) for run in found}
    if root not in near:
        taken = near and {*near, root}
        found += _printed([run for run in runs.values() if _branch(run.path, root) not in taken])
    if not found:
        raise _nothing(root, list(runs.values()))
    for run in found:
        _keep_longest_state(run)
    for path, run in runs.items():
        if not run.files:
            home = next((runs[up] for up in path.parents if up in runs and runs[up].files), None)
            if home is not None:
                home.left.extend(run.left)
                home.samples.extend(run.samples)
            elif len(found) == 1:
                found[0].left.extend(run.left)
                found[0].configs.extend(run.configs if path == root else [])
    return sorted(found, key=lambda run: str(run.path))


def _branch(path: Path, root: Path) -> Path:
    """Return the folder of `root` in which `path` lies, or `root` itself; places of one branch may be one run's."""
    below = path.relative_to(root).parts
    return root / below[0] if below else root


def _printed(runs: list[RunFiles]) -> list[RunFiles]:
    """Return the runs, none of which has a log, that have at least what a loop of one's own printed."""
    for run in runs:
        for item in list(run.left):
            chosen = choose(item[0]) if item[0].is_file() else None
            if chosen is not None and chosen[1].name == "console" and chosen[0] >= LAST_RESORT:
                run.left.remove(item)
                run.files.append((item[0], chosen[1]))
    return [run for run in runs if run.files]


def _keep_longest_state(run: RunFiles) -> None:
    """Of the copies of a trainer state that checkpoints hold, keep the longest: the history only grows."""
    copies = [item for item in run.files if item[1].name == "trainer_state"]
    if len(copies) > 1:
        best = max(copies, key=lambda item: (item[0].stat().st_size, str(item[0])))
        for item in copies:
            if item is not best:
                run.files.remove(item)
                run.left.append((item[0], f"a shorter copy of {best[0].parent.name}/{best[0].name}"))


def _nothing(root: Path, runs: list[RunFiles]) -> InputError:
    seen = [(path, why) for run in runs for path, why in run.left]
    seen += [(path, UNKNOWN) for run in runs for path in (*run.configs, *run.samples)]
    if not seen:
        return InputError(f"{root}: the folder is empty.", "Point at the folder that the training writes its log to.")
    names = ", ".join(repr(path.name) + ("" if why == UNKNOWN else f" ({why})") for path, why in seen[:NAMED])
    more = f" and {len(seen) - NAMED} more" if len(seen) > NAMED else ""
    return InputError(f"{root}: no log in a known format; found {names}{more}.", known_formats())
