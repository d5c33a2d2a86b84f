"""Whether training and evaluation normalise observations with the same statistics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, UnreadableError
from ..preflight.data.reading import Rows
from ..series import Floats

SAME = 1e-6
"""Relative difference up to which statistics are the same numbers, saved twice."""
SHIFT, RATIO = 0.1, 1.1
"""Shift of a mean in standard deviations, and ratio of standard deviations, from which the policy sees other inputs.
Engineering defaults."""
PARTS: dict[str, tuple[str, ...]] = {
    "mean": ("mean", "obs_mean", "loc", "running_mean"),
    "var": ("var", "obs_var", "variance", "running_var"),
    "std": ("std", "obs_std", "scale", "running_std"),
    "count": ("count", "n", "num_batches_tracked", "obs_count"),
}
PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".ckpt")


@dataclass(frozen=True)
class Statistics:
    """Running statistics of observations."""

    mean: Floats
    """[D]"""
    std: Floats
    """[D]"""
    count: float | None = None

    @property
    def untouched(self) -> bool:
        """Whether they are still what a normaliser begins with: mean 0, standard deviation 1."""
        return bool(np.all(np.abs(self.mean) <= SAME) and np.all(np.abs(self.std - 1) <= SAME))


@dataclass(frozen=True)
class Normalisers:
    """How the statistics of evaluation depart from those of training."""

    outcome: str
    """same, untouched (evaluation never loaded them), different, or drifted (a little)."""
    shift: float
    """Largest difference of means, in training's standard deviations."""
    ratio: float
    """Largest ratio of the standard deviations, either way round."""
    dimension: int
    """Where the larger of the two is, from 0."""
    counts: tuple[float | None, float | None]


def compare_normalisers(train: Statistics, evaluation: Statistics) -> Normalisers:
    """Compare the statistics of training and evaluation.

    Raises:
        InputError: they have different sizes.
    """
    if train.mean.size != evaluation.mean.size:
        raise InputError(
            f"Training normalises {train.mean.size} numbers, evaluation {evaluation.mean.size}.",
            "They belong to different observations: look at the wrappers of both environments.",
        )
    scale = np.maximum(train.std, 1e-12)
    shift = np.abs(evaluation.mean - train.mean) / scale
    ratio = np.maximum(evaluation.std, 1e-12) / scale
    ratio = np.maximum(ratio, 1 / ratio)
    worst = int(np.argmax(np.maximum(shift / SHIFT, (ratio - 1) / (RATIO - 1))))
    largest = float(shift.max()), float(ratio.max())
    if largest[0] <= SAME and largest[1] - 1 <= SAME:
        outcome = "same"
    elif evaluation.untouched and not train.untouched:
        outcome = "untouched"
    else:
        outcome = "different" if largest[0] > SHIFT or largest[1] > RATIO else "drifted"
    return Normalisers(outcome, *largest, worst, (train.count, evaluation.count))


def read_statistics(path: Path) -> Statistics:
    """Read statistics from JSON or .npz: mean, and var or std, each under a usual name, also one level down.

    Raises:
        InputError: the file is a pickle, or holds no statistics.
        UnreadableError: it cannot be read.
    """
    if path.suffix.lower() in PICKLES:
        raise InputError(
            f"{path}: a pickle, which could run code and is never opened.",
            "Export it: json.dump({'mean': rms.mean.tolist(), 'var': rms.var.tolist(), 'count': rms.count}, file)",
        )
    try:
        if path.suffix.lower() == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return statistics_of({name: arrays[name] for name in arrays.files}, str(path))
        found = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror}).", "Give a .json or .npz file.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: neither JSON nor .npz.", "Write mean, var and count as JSON.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: a list, not named statistics.", 'Write {"mean": [...], "var": [...]}.')
    return statistics_of(found, str(path))  # pyright: ignore[reportUnknownArgumentType]


def statistics_of(found: Mapping[str, Any], source: str) -> Statistics:
    """Return the statistics among named values, also one level down.

    Raises:
        InputError: mean, or both var and std, are missing or no numbers.
    """
    flat = {str(k).rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower(): v for k, v in found.items()}
    for value in found.values():
        if isinstance(value, dict):
            flat.update({str(k).lower(): v for k, v in value.items()})  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    parts = {part: next((flat[n] for n in names if n in flat), None) for part, names in PARTS.items()}
    if parts["mean"] is None or (parts["var"] is None and parts["std"] is None):
        raise InputError(f"{source}: no mean with var or std.", 'Write {"mean": [...], "var": [...], "count": n}.')
    try:
        mean = np.asarray(parts["mean"], np.float64).ravel()
        std = _root(_array(parts["var"])) if parts["std"] is None else _array(parts["std"])
        count = None if parts["count"] is None else float(np.asarray(parts["count"], np.float64).ravel()[0])
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(f"{source}: statistics that are no numbers.", "Write lists of numbers.") from error
    if mean.size != std.size or not mean.size or not np.isfinite(np.concatenate([mean, std])).all() or (std < 0).any():
        raise InputError(f"{source}: mean and spread do not fit, or are not finite.", "Save both of one normaliser.")
    return Statistics(mean, std, count)


def _array(value: Any) -> Floats:
    return np.asarray(value, np.float64).ravel()


def _root(variance: Floats) -> Floats:
    """Return the square root; what has none stays negative and is refused like a negative spread."""
    return np.where(variance >= 0, np.sqrt(np.abs(variance)), variance)


def from_log(path: Path) -> tuple[Statistics, Statistics]:
    """Return the last statistics of training and evaluation in a log of rows.

    They are found under keys that differ in their first part only: `train/obs_mean` and `eval/obs_mean`, and so with
    `obs_std` or `obs_var`; `rollout/` counts as training.

    Raises:
        InputError: the log has no such keys on both sides.
    """
    sides: dict[str, dict[str, Any]] = {"train": {}, "eval": {}}
    for _, row in Rows(path):
        for key, value in row.items():
            first, _, rest = str(key).partition("/")
            side = {"train": "train", "rollout": "train", "eval": "eval", "evaluation": "eval"}.get(first.lower())
            if side and rest and value not in (None, ""):
                sides[side][rest] = value
    try:
        train, held = (statistics_of(values, f"{path}, {side}") for side, values in sides.items())
    except InputError as error:
        raise InputError(
            f"{error.message.rstrip('.')} in this log.",
            "Log train/obs_mean, train/obs_std, eval/obs_mean, eval/obs_std.",
        ) from error
    return train, held
