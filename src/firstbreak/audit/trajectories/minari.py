"""Episodes from Minari data sets in HDF5 (`main_data.hdf5`: a group `episode_<N>` each)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, missing_extra
from ..reading.files import natural
from .npz import last_flag
from .trajectory import Floats, Trajectory

ENDINGS = frozenset({".hdf5", ".h5"})
MOST_DEPTH = 4


def read_minari(path: Path, source: str) -> Iterator[Trajectory]:
    """Yield the episodes of a Minari data set.

    Raises:
        InputError: not an HDF5 file, or no episodes in it.
        MissingExtraError: h5py is not there.
    """
    try:
        import h5py  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise missing_extra("h5py", "minari", f"Reading {path}") from error
    try:
        with cast(Any, h5py).File(path, "r") as file:
            yield from episodes_in(cast("Mapping[str, Any]", file), path, source)
    except OSError as error:
        raise InputError(f"{path}: not a readable HDF5 file.", "Was it written completely?") from error


def episodes_in(groups: Mapping[str, Any], path: Path, source: str) -> Iterator[Trajectory]:
    """Yield the episodes of what looks like the root of a Minari file: a mapping of mappings of arrays.

    Raises:
        InputError: there are none.
    """
    names = sorted((name for name in groups if name.startswith("episode_")), key=natural)
    if not names:
        raise InputError(f"{path}: no episodes in it.", "Minari writes them as groups episode_0, episode_1 ...")
    for index, name in enumerate(names):
        group = groups[name]
        if not {"actions", "rewards"} <= set(group):
            raise InputError(f"{path}: {name} has no actions or rewards.", "Is it a Minari data set?")
        rewards = np.asarray(group["rewards"][()], np.float64).reshape(-1)
        observations = joined(group["observations"]) if "observations" in group else np.zeros((rewards.size, 0))
        flags = [np.asarray(group[k][()]) if k in group else None for k in ("terminations", "truncations")]
        actions = np.asarray(group["actions"][()]) if hasattr(group["actions"], "shape") else joined(group["actions"])
        yield Trajectory(
            source, index, observations, actions.reshape(len(actions), -1) if actions.ndim > 1 else actions,
            cast(Floats, rewards), last_flag(flags[0]), last_flag(flags[1]),
        )  # fmt: skip


def joined(node: Any, depth: int = 0) -> Floats:
    """Return an array [T, features], or the arrays of a dictionary space side by side in the order of their names."""
    if hasattr(node, "shape"):
        array: NDArray[Any] = np.asarray(node[()])
        flat = array.reshape(len(array), -1) if array.dtype.kind in "fiub" and array.ndim else np.zeros((0, 0))
        return flat.astype(np.float64)
    if depth >= MOST_DEPTH:
        return np.zeros((0, 0))
    parts = [joined(node[name], depth + 1) for name in sorted(node)]
    parts = [part for part in parts if part.size]
    steps = min((len(part) for part in parts), default=0)
    return np.concatenate([part[:steps] for part in parts], axis=1) if parts else np.zeros((0, 0))
