"""`evaluations.npz` of Stable-Baselines3's EvalCallback: the evaluations with every episode's return."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..runlog import Recording
from ..series import Curve
from .protocol import Options, Reader
from .textfile import head, modified, unreadable

MAX_BYTES = 1 << 30
"""Largest array that is unpacked: a small archive may claim any size."""


def sniff(path: Path) -> float:
    """Say how surely `path` is the file: its name and that it is an archive of arrays."""
    if path.suffix != ".npz" or head(path, 2) != b"PK":
        return 0.0
    return 0.95 if path.stem == "evaluations" else 0.0


def read(path: Path, options: Options) -> Recording:
    """Read `timesteps` [E], `results` [E, n] and `ep_lengths` [E, n]; nothing is ever unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_BYTES:
                raise InputError(f"{path}: larger than evaluations can be.", "Check that this is the right file.")
        with np.load(path, allow_pickle=False) as arrays:
            names = ("timesteps", "results", "ep_lengths", "successes")
            data: dict[str, Any] = {name: arrays[name] for name in names if name in arrays.files}
        return _recording(path, data)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, TypeError, NotImplementedError) as error:
        raise _broken(path, error) from error


def _broken(path: Path, error: Exception) -> InputError:
    if isinstance(error, InputError):
        return error
    first = (str(error).splitlines() or [type(error).__name__])[0][:200]
    return InputError(f"{path}: not a readable evaluations file ({first}).", "Write it again, or leave it out.")


def _recording(path: Path, data: dict[str, Any]) -> Recording:
    steps = np.asarray(data["timesteps"], dtype=np.float64)
    results = np.asarray(data["results"], dtype=np.float64).reshape(steps.size, -1)
    found = Recording(str(path), READER.name, clock="env_steps", framework="stable_baselines3", modified=modified(path))
    if not results.size:
        raise InputError(f"{path}: no evaluation in it yet.", "Let the run reach its first evaluation.")
    found.curves["eval/mean_reward"] = Curve(steps, results.mean(axis=1))
    found.curves["eval/reward_std"] = Curve(steps, results.std(axis=1))
    found.config["eval_episodes"] = results.shape[1]
    for name, key in (("ep_lengths", "eval/mean_ep_length"), ("successes", "eval/success_rate")):
        if name in data:
            values = np.asarray(data[name], dtype=np.float64).reshape(steps.size, -1)
            if values.size:
                found.curves[key] = Curve(steps, values.mean(axis=1))
    return found


READER = Reader("sb3_eval", "Stable-Baselines3 evaluations", sniff, read, rank=58)
