"""MLflow's file store: one folder a run, with `meta.yaml`, one file a metric, one file a parameter."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np

from ..errors import InputError, UnreadableError
from ..runlog import Event, Problem, Recording
from ..series import Curve
from .hyperparameters import exact
from .protocol import Options, Reader

ENDED = {"3": "finished", "4": "crashed", "5": "crashed"}
"""MLflow's `RunStatus`: 3 finished, 4 failed, 5 killed; 1 running and 2 scheduled have not ended."""
LONGEST_TEXT = 1 << 20
"""Bytes of a parameter, tag or `meta.yaml` that are read."""


def sniff(path: Path) -> float:
    """Say how surely `path` is the folder of one run: `meta.yaml` beside `metrics` or `params`, and a run identity."""
    try:
        if not path.is_dir() or not (path / "meta.yaml").is_file():
            return 0.0
        named = "run_id" in _meta(path) or "run_uuid" in _meta(path)
        return 1.0 if named and ((path / "metrics").is_dir() or (path / "params").is_dir()) else 0.0
    except OSError:
        return 0.0


def read(path: Path, options: Options) -> Recording:
    """Read the folder of one run."""
    recording = Recording(path=str(path), reader="mlflow")
    try:
        if not (path / "meta.yaml").is_file():
            raise InputError(
                f"{path} is not an MLflow run folder: it has no meta.yaml.",
                "Give a folder <store>/<experiment>/<run> that holds meta.yaml, metrics and params.",
            )
        meta = _meta(path)
        recording.run_name = meta.get("run_name", "") or meta.get("run_id", "")
        recording.ended = ENDED.get(meta.get("status", ""), "")
        recording.modified = (path / "meta.yaml").stat().st_mtime
        files = _files_under(path / "metrics")
        sizes = [file.stat().st_size for file in files]
        params, tags = _files_under(path / "params"), _files_under(path / "tags")
    except OSError as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError(f"Cannot read {path}: {error.strerror or error}.", "Check its permissions.") from error
    for file in params:
        recording.config[_key(file, path / "params")] = exact(_text(file, recording))
    for file in tags:
        key = _key(file, path / "tags")
        recording.texts[key] = _text(file, recording)
        if key == "mlflow.runName":
            recording.run_name = recording.texts[key]
    done = 0
    for file, size in zip(files, sizes, strict=True):
        _read_metric(file, _key(file, path / "metrics"), recording)
        done += size
        options.progress(done, sum(sizes))
    _place_end(meta, recording)
    if not recording.curves:
        recording.problems.append(Problem(recording.path, "", "it holds no metric (yet)."))
    return recording


def _files_under(folder: Path) -> list[Path]:
    """Return the files below `folder`, sorted; links are not followed out of the run."""
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def _key(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()


def _text(file: Path, recording: Recording) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(LONGEST_TEXT).decode("utf-8", "replace").strip()
    except OSError as error:
        recording.problems.append(Problem(str(file), "", f"cannot be read: {error.strerror or error}."))
        return ""


def _meta(path: Path) -> dict[str, str]:
    """Return the plain `key: value` lines of `meta.yaml`; nothing deeper is needed, so no YAML is parsed."""
    with (path / "meta.yaml").open("rb") as stream:
        lines = stream.read(LONGEST_TEXT).decode("utf-8", "replace").splitlines()
    found: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.partition(":")
        if colon and not line.startswith((" ", "#", "-")):
            found[key.strip()] = value.strip().strip("'\"")
    return found


def _read_metric(file: Path, key: str, recording: Recording) -> None:
    """Read lines `timestamp_ms value step`; newer stores may add fields, early ones left out the step."""
    columns = array("d"), array("d"), array("d")
    bad, first_bad, cut = 0, 0, False
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                point = _point(line)
                if point is not None:
                    for column, part in zip(columns, point, strict=True):
                        column.append(part)
                elif line.strip():
                    cut = not line.endswith(b"\n")
                    bad, first_bad = bad + (not cut), first_bad or number
            recording.modified = max(recording.modified, file.stat().st_mtime)
    except OSError as error:
        recording.problems.append(Problem(str(file), "", f"cannot be read: {error.strerror or error}."))
    if bad:
        what = f"{bad} lines are not 'timestamp value step'; they were left out."
        recording.problems.append(Problem(str(file), f"line {first_bad}", what))
    if cut:
        what = "the last line is incomplete: still being written or cut off."
        recording.problems.append(Problem(str(file), "", what))
    if columns[0]:
        wall, value, step = (np.frombuffer(column, dtype=np.float64).copy() for column in columns)
        recording.curves[key] = Curve(step, value, wall / 1000.0)


def _point(line: bytes) -> tuple[float, float, float] | None:
    parts = line.split()
    # A line without its end may be a number cut in the middle: not a point yet.
    if len(parts) < 2 or not line.endswith(b"\n"):
        return None
    try:
        return float(parts[0]), float(parts[1]), float(parts[2]) if len(parts) > 2 else 0.0
    except ValueError:
        return None


def _place_end(meta: dict[str, str], recording: Recording) -> None:
    last = max((float(curve.step.max()) for curve in recording.curves.values()), default=math.nan)
    if recording.ended and math.isfinite(last):
        status = {"3": "finished", "4": "failed", "5": "killed"}[meta["status"]]
        recording.events.append(Event("end", last, status))


READER = Reader(name="mlflow", title="MLflow file store", sniff=sniff, read=read, folders=True, rank=60)
