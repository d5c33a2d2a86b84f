"""Episodes from npz files: one a file, many one after the other, or a batch of equal length. Nothing is unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ...errors import InputError
from .trajectory import Frames, Trajectory

Array = NDArray[Any]
MOST_BYTES = 4 << 30
"""Of one array, unpacked; a small packed file can claim any size."""
NAMES: dict[str, tuple[str, ...]] = {
    "observations": ("observations", "obs", "observation", "states", "state"),
    "actions": ("actions", "action", "acts"),
    "rewards": ("rewards", "reward", "rews"),
    "terminated": ("terminated", "terminations", "terminals", "dones", "done", "is_terminal"),
    "truncated": ("truncated", "truncations", "timeouts", "is_timeout"),
    "starts": ("episode_starts", "is_first", "starts"),
    "frames": ("frames", "images", "pixels", "renders", "rgb"),
    "success": ("success", "successes", "is_success"),
}
"""Role -> names of arrays. D4RL: terminals, timeouts; Stable-Baselines3: obs, episode_starts."""


def read_npz(path: Path, source: str) -> Iterator[Trajectory]:
    """Yield the episodes of an npz file.

    Raises:
        InputError: not an npz file, arrays of objects in it (a pickle), no rewards, or arrays of unlike length.
    """
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as held:
            arrays = _by_role({name: held[name] for name in _wanted(held.files)})
    except InputError:
        raise
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        reason = "arrays of objects are pickles and never loaded" if "pickle" in str(error) else "not a whole npz file"
        raise InputError(f"{path}: {reason}.", "Save plain arrays of numbers with numpy.savez.") from error
    if "rewards" not in arrays or "actions" not in arrays:
        raise InputError(
            f"{path}: no arrays of rewards and actions in it.",
            "Save observations, actions, rewards, terminated and truncated under these names.",
        )
    yield from episodes_of(arrays, path, source)


def _check_sizes(path: Path) -> None:
    """Refuse an array that would not fit before it is unpacked."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as stream:
                version = npy.read_magic(stream)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, _, dtype = read(stream)
            if int(np.prod(shape, dtype=object)) * max(dtype.itemsize, 1) > MOST_BYTES:
                raise InputError(
                    f"{path}: an array of more than {MOST_BYTES >> 30} GiB.", "Save the episodes in several files."
                )


def _wanted(names: list[str]) -> list[str]:
    known = {name for usual in NAMES.values() for name in usual}
    return [name for name in names if name.lower() in known]


def _by_role(arrays: Mapping[str, Array]) -> dict[str, Array]:
    lower = {name.lower(): array for name, array in arrays.items()}
    return {
        role: next(lower[name] for name in usual if name in lower)
        for role, usual in NAMES.items()
        if any(name in lower for name in usual)
    }


def episodes_of(arrays: Mapping[str, Array], path: Path, source: str) -> Iterator[Trajectory]:
    """Yield the episodes that arrays under their roles hold.

    Raises:
        InputError: no array of rewards in one or two dimensions, or arrays of unlike length.
    """
    rewards = arrays["rewards"]
    if rewards.ndim == 2 and rewards.shape[1] == 1:
        rewards = rewards[:, 0]
    batched = rewards.ndim == 2
    if rewards.ndim not in {1, 2} or rewards.dtype.kind not in "fiub":
        raise InputError(f"{path}: rewards of shape {rewards.shape}.", "Rewards have one number a step: shape [steps].")
    for role in ("actions", "observations"):
        size = arrays[role].shape[: rewards.ndim] if role in arrays else rewards.shape
        if len(size) < rewards.ndim or size[-1] - rewards.shape[-1] not in ({0, 1} if role == "observations" else {0}):
            raise InputError(
                f"{path}: {role} for {size} steps, rewards for {rewards.shape}.", "Save one entry a step in each array."
            )
    pieces = _batch(arrays, rewards) if batched else _cut(arrays, rewards)
    for index, piece in enumerate(pieces):
        yield _episode(piece, source, index)


def _cut(arrays: Mapping[str, Array], rewards: Array) -> Iterator[dict[str, Array]]:
    """Yield the arrays of each episode of a buffer in which one follows the other."""
    ends = np.zeros(rewards.size, bool)
    for role in ("terminated", "truncated"):
        flags = arrays.get(role)
        if flags is not None and flags.size == rewards.size:
            ends |= flags.reshape(-1).astype(bool)
    starts = arrays.get("starts")
    if starts is not None and starts.size == rewards.size:
        ends[:-1] |= starts.reshape(-1).astype(bool)[1:]
    last = [int(i) + 1 for i in np.flatnonzero(ends)]
    bounds = [0, *last] if last and last[-1] == rewards.size else [0, *last, rewards.size]
    for begin, end in pairwise(bounds):
        extra = 1 if end == rewards.size else 0
        piece = {role: array[begin : end + extra] for role, array in arrays.items() if array.ndim}
        if end > begin:
            yield {**piece, "rewards": rewards[begin:end], "actions": arrays["actions"][begin:end],
                   **{role: array for role, array in arrays.items() if not array.ndim}}  # fmt: skip


def _batch(arrays: Mapping[str, Array], rewards: Array) -> Iterator[dict[str, Array]]:
    """Yield the arrays of each row of a batch [episodes, steps], cut behind its end."""
    for i in range(rewards.shape[0]):
        piece = {role: array[i] for role, array in arrays.items() if array.ndim and len(array) == len(rewards)}
        over = np.zeros(rewards.shape[1], bool)
        for role in ("terminated", "truncated"):
            flags = piece.get(role)
            if flags is not None and flags.shape == over.shape:
                over |= flags.astype(bool)
        end = int(over.argmax()) + 1 if over.any() else rewards.shape[1]
        yield {role: array[:end] if array.ndim else array for role, array in {**piece, "rewards": rewards[i]}.items()}


def _episode(arrays: Mapping[str, Array], source: str, index: int) -> Trajectory:
    rewards = np.asarray(arrays["rewards"], np.float64)
    frames = _frames(arrays.get("frames"))
    seen = arrays.get("observations")
    if seen is not None and frames is None and seen.ndim == 4:
        frames = _frames(seen)
    if seen is not None and (seen.ndim > 3 or seen.dtype.kind not in "fiub"):
        seen = None
    observations = np.zeros((rewards.size, 0)) if seen is None else np.asarray(seen, np.float64).reshape(len(seen), -1)
    actions = np.asarray(arrays["actions"])
    return Trajectory(
        source, index, observations, actions.reshape(len(actions), -1) if actions.ndim > 1 else actions,
        rewards, last_flag(arrays.get("terminated")), last_flag(arrays.get("truncated")),
        _any_flag(arrays.get("success")), frames,
    )  # fmt: skip


def last_flag(flags: Array | None) -> bool | None:
    """Whether the last flag of an episode is set; None where there is none."""
    return None if flags is None or not flags.size else bool(flags.reshape(-1)[-1])


def _any_flag(flags: Array | None) -> bool | None:
    return None if flags is None or not flags.size else bool(flags.any())


def _frames(array: Array | None) -> Frames | None:
    """Return pictures [T, height, width, 3] of bytes, None where the array holds none."""
    if array is None or array.ndim != 4 or array.dtype.kind not in "uif":
        return None
    if array.shape[-1] not in {1, 3, 4} and array.shape[1] in {1, 3, 4}:
        array = np.moveaxis(array, 1, -1)
    if array.shape[-1] not in {1, 3, 4} or min(array.shape[1:3]) < 4:
        return None
    if array.dtype != np.uint8:
        finite = np.nan_to_num(np.asarray(array, np.float32))
        array = np.clip(finite * 255 if finite.max(initial=0.0) <= 1.0 else finite, 0, 255).astype(np.uint8)
    rgb = array[..., :3] if array.shape[-1] > 1 else np.repeat(array, 3, axis=-1)
    return cast(Frames, rgb)
