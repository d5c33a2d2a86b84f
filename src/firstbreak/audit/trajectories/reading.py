"""The trajectories of a file or folder, one at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ...errors import InputError
from ..reading.files import natural
from ..reading.lines import regular
from .minari import ENDINGS as HDF5
from .minari import read_minari
from .npz import read_npz
from .trajectory import Trajectory

MAX_FILES = 20_000
MAX_DEPTH = 6


def read_trajectories(path: Path) -> Iterator[Trajectory]:
    """Yield the episodes of `path`.

    Args:
        path: A `.npz` file, a Minari data set (`main_data.hdf5`), or a folder of them.

    Raises:
        InputError: no such file in it, or one that holds no episode.
        UnreadableError: it cannot be opened.
        MissingExtraError: a Minari data set, and h5py is not installed.
    """
    root = path if path.is_dir() else path.parent
    files = _files(path) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path}: no .npz or .hdf5 file below it.", "Give a folder of trajectories, or one file.")
    for file in files:
        regular(file)
        name = file.relative_to(root).as_posix()
        if file.suffix.lower() == ".npz":
            yield from read_npz(file, name)
        elif file.suffix.lower() in HDF5:
            yield from read_minari(file, name)
        else:
            raise InputError(f"{file}: trajectories are read from .npz and .hdf5 files.", "Save them with numpy.savez.")


def has_trajectories(path: Path) -> bool:
    """Whether `path` is, or is a folder with, files of trajectories."""
    return bool(_files(path)) if path.is_dir() else path.suffix.lower() in {".npz", *HDF5}


def _files(root: Path) -> list[Path]:
    """Return the files below a folder in natural order; links to folders are not followed."""
    found: list[Path] = []
    for place, folders, names in os.walk(root):
        folder = Path(place)
        depth = len(folder.relative_to(root).parts)
        folders[:] = sorted(folders, key=natural) if depth < MAX_DEPTH else []
        wanted = (n for n in names if Path(n).suffix.lower() in {".npz", *HDF5})
        found += [folder / n for n in sorted(wanted, key=natural) if (folder / n).is_file()]
        if len(found) > MAX_FILES:
            break
    return found[:MAX_FILES]
