"""Loads runs: from a path, or from numbers that are already in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FirstbreakError, InputError, MissingExtraError, UnreadableError, unknown_name
from .ingest import Context, ingest
from .ingest.attempts import attempts, joined, kind_of
from .readers.discover import RunFiles, discover
from .readers.memory import NAME, from_memory
from .readers.protocol import Options, Reader
from .readers.registry import all_readers
from .readers.remote import fetch, is_url
from .readers.run_config import flat_config, read_config
from .runlog import Problem, Recording, RunLog
from .vocabulary import metrics

__all__ = ["load", "load_runs"]

_EVALUATION = ("eval", "val", "valid", "test")
"""A table of several, if its name begins or ends so, holds evaluations."""


def load(
    source: Any,
    *,
    map: Mapping[str, str] | None = None,
    config: Mapping[str, Any] | None = None,
    step: str = "",
    now: float | None = None,
    options: Options | None = None,
) -> RunLog:
    """Load one run.

    Args:
        source: the path of a log or of a run's folder; or the address of a run on a W&B or MLflow server; or a
            dictionary of curves (numbers, or (step, value) pairs; `"nan"` and `"inf"` may be texts); or a list of rows
            (dictionaries); or a data frame.
        map: the meaning of keys that firstbreak does not know, source key -> canonical metric.
        config: the run's configuration, where the source does not hold it; these settings win.
        step: the step column of rows or of a data frame, where its name does not tell.
        now: the present in seconds since the epoch, to tell a running from a stalled run.
        options: what readers are asked to do besides.

    Raises:
        InputError: nothing usable, or several runs (then use `load_runs`).
        UnknownNameError: `map` names a metric that does not exist.
    """
    names = _checked(map)
    if isinstance(source, (str, Path)):
        runs = _runs(source, names, config, now, options or Options())
        if len(runs) > 1:
            places = ", ".join(run.path for run in runs[:3]) + (", ..." if len(runs) > 3 else "")
            raise InputError(
                f"{source} holds {len(runs)} runs: {places}.",
                "Give one of them, or use firstbreak.api.load_runs for all.",
            )
        return runs[0]
    only_config = isinstance(source, Mapping) and not source and bool(config)
    recording = Recording(path=NAME, reader="memory") if only_config else from_memory(source, step)
    return ingest([recording], Context(path=NAME, overrides=flat_config(config or {}), names=names, now=now))


def load_runs(
    path: str | Path,
    *,
    map: Mapping[str, str] | None = None,
    config: Mapping[str, Any] | None = None,
    now: float | None = None,
    options: Options | None = None,
    framework: str = "",
) -> list[RunLog]:
    """Load every run found at `path` (or the one at an address), sorted by where it lies. Arguments as for `load`.

    `framework` says whose keys the logs hold, where they do not tell it themselves.

    Raises:
        InputError: no run is there; UnreadableError: it cannot be opened.
    """
    return _runs(path, _checked(map), config, now, options or Options(), framework)


def _checked(names: Mapping[str, str] | None) -> Mapping[str, str]:
    for target in (names or {}).values():
        metric = target.partition("@")[0]  # a member of a family is named metric@member
        if metric not in metrics():
            raise unknown_name("metric", metric, metrics())
    return names or {}


@dataclass
class _Read:
    """What was read of the files of one run."""

    recordings: list[Recording] = field(default_factory=list[Recording])
    separate: list[Recording] = field(default_factory=list[Recording])
    """Runs of a file that holds several."""
    problems: list[Problem] = field(default_factory=list[Problem])
    errors: list[FirstbreakError] = field(default_factory=list[FirstbreakError])
    paths: list[str] = field(default_factory=list[str])
    """Every file that was read."""


@dataclass
class _Run:
    """One run of those that a folder or a file holds, ready to be ingested."""

    path: str
    recordings: list[Recording]
    problems: list[Problem]
    read: list[str]


def _runs(
    path: str | Path,
    names: Mapping[str, str],
    config: Mapping[str, Any] | None,
    now: float | None,
    options: Options,
    framework: str = "",
) -> list[RunLog]:
    logs: list[RunLog] = []
    errors: list[FirstbreakError] = []
    if isinstance(path, str) and is_url(path):
        recording = fetch(path, options)
        settings = flat_config(config or {})
        context = Context(path=recording.path, overrides=settings, names=names, now=now, framework=framework)
        return [ingest([recording], context)]
    for files in discover(Path(path)):
        read = _read(files, options)
        errors.extend(read.errors)
        settings, troubles = read_config(files.configs)
        read.problems.extend(troubles)
        for run in _apart(files, read):
            context = Context(
                path=run.path,
                config=settings,
                overrides=flat_config(config or {}),
                names=names,
                rank_of=_rank,
                left=[(str(file), why) for file, why in files.left],
                problems=run.problems,
                read=[*run.read, *(str(file) for file in files.configs)],
                samples=[str(file) for file in files.samples],
                now=now,
                framework=framework,
            )
            logs.append(ingest(run.recordings, context))
    if not logs:
        raise errors[0] if errors else InputError(f"{path}: no run in it.", "Give the folder of a run.")
    return logs


@cache
def _ranks() -> dict[str, int]:
    return {reader.name: reader.rank for reader in all_readers()}


def _rank(reader: str) -> int:
    return _ranks().get(reader, 50)


@np.errstate(all="ignore")  # absurd numbers in a damaged file are data, not a fault of ours
def _read(files: RunFiles, options: Options) -> _Read:
    """Read every file of a run; one that fails becomes a problem and does not stop the others."""
    found = _Read()
    by_reader: dict[str, list[Recording]] = defaultdict(list)
    readers: dict[str, Reader] = {}
    for path, reader in files.files:
        readers[reader.name] = reader
        try:
            if reader.read_all is not None:
                several = reader.read_all(path, options)
                (found.separate if len(several) > 1 else found.recordings).extend(several)
            else:
                recording = reader.read(path, options)
                by_reader[reader.name].append(recording)
            found.paths.append(str(path))
        except (InputError, UnreadableError, MissingExtraError) as error:
            found.errors.append(error)
            found.problems.append(Problem(str(path), "", error.message, error.hint))
    for name, parts in by_reader.items():
        combine = readers[name].combine
        found.recordings.extend(parts if combine is None else combine(parts))
    _mark_evaluations(found.recordings)
    return found


def _mark_evaluations(recordings: Sequence[Recording]) -> None:
    """Where a run has several tables of one kind, put `eval/` before the keys of those named as evaluations."""
    tables = [r for r in recordings if r.reader in ("table", "jsonl", "parquet")]
    marked = [r for r in tables if Path(r.path).stem.lower().replace("-", "_").split("_")[0] in _EVALUATION]
    if len(marked) < len(tables):
        for recording in marked:
            keys = {k: k if k.startswith("eval/") else f"eval/{k}" for k in recording.curves}
            recording.curves = {keys[k]: curve for k, curve in recording.curves.items()}


def _apart(files: RunFiles, read: _Read) -> list[_Run]:
    """Return each run that the files of one folder hold."""
    place = str(files.path)
    runs = [_Run(f"{place}#{r.run_name}", [r], list(read.problems), list(read.paths)) for r in read.separate]
    kinds: dict[tuple[str, str], list[Recording]] = defaultdict(list)
    for recording in read.recordings:
        kinds[kind_of(recording)].append(recording)
    main: list[Recording] = []
    others: list[tuple[Recording, list[str]]] = []
    for parts in kinds.values():
        *earlier, last = attempts(parts)
        main.append(joined(last))
        others.extend((joined(a), [r.path for r in (*a.segments, *a.copies)]) for a in earlier)
    if main:
        names = ", ".join(Path(other.path).name for other, _ in others)
        what = f"it also holds {len(others)} other runs that began at the same step ({names}); they are kept apart."
        mixed = [Problem(place, "", what, "Give each run a folder of its own.")] if others else []
        theirs = {path for _, paths in others for path in paths}
        own = [path for path in read.paths if path not in theirs]
        runs.append(_Run(place, main, [*read.problems, *mixed], own))
        runs.extend(_Run(other.path, [other], [*read.problems, *mixed], paths) for other, paths in others)
    return sorted(runs, key=lambda run: run.path)
