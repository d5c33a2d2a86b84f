"""Where the watched runs come from: files on this machine, or a run on a server."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ...errors import FirstbreakError, UnreadableError
from ...loading import load_runs
from ...readers.discover import RunFiles, discover
from ...runlog import RunLog
from .places import Change, Mark, Sight, changes, look_at
from .torn import at_home, torn, whole_lines

POLITE_S = 30.0
"""Least seconds between two questions to a server."""
MOST_PATIENT_S = 600.0
"""Most seconds between two questions to a server that does not answer."""

Load = Callable[[str | Path], list[RunLog]]
"""Reads every run at a place."""


@dataclass(frozen=True)
class Read:
    """One run as it was read. `written` is when its files were last written, in seconds since the epoch, 0 if unknown;
    `torn` says that a half-written last line was left out.
    """

    log: RunLog
    written: float = 0.0
    torn: bool = False


class Source(Protocol):
    """Something that can be watched. `waits_s` is how long to leave it alone after each reading."""

    waits_s: float
    patient: bool
    """Whether what cannot be read now may be a run that has not begun."""

    @property
    def name(self) -> str:
        """What is watched, as it was given."""
        ...

    def look(self) -> tuple[tuple[Change, ...], str]:
        """Return what changed since the last look and why there is nothing, cheaply."""
        ...

    def read(self, *, settled: bool = False) -> list[Read]:
        """Read the watched runs; `settled` takes a half-written last line for a whole one.

        Raises:
            FirstbreakError: nothing can be read.
        """
        ...

    def written(self, log: RunLog) -> float:
        """Return when the files of `log` were last written as seen in the last look, 0 if unknown."""
        ...


@dataclass
class LocalSource:
    """A file, or a folder of one or many runs: the newest is watched, or with `every` all of them."""

    place: Path
    every: bool = False
    load: Load = load_runs
    silence_s: float = 60.0
    """How much later than the watched run another must have been written for the watch to move there."""
    waits_s: float = 0.0
    patient: bool = True
    _marks: Mapping[str, Mark] = field(default_factory=dict[str, Mark])
    _known: set[Path] = field(default_factory=set[Path])
    _held: Path | None = None

    @property
    def name(self) -> str:
        """The path as given."""
        return str(self.place)

    def look(self) -> tuple[tuple[Change, ...], str]:
        """Return which files changed since the last look, and why there are none."""
        sight: Sight = look_at(self.place)
        moved = changes(self._marks, sight.marks)
        self._marks = sight.marks
        return moved, sight.trouble

    def read(self, *, settled: bool = False) -> list[Read]:
        """Read the newest run, or every run, at the place."""
        found = discover(self.place)
        chosen = found if self.every else [self._newest(found)]
        reads: list[Read] = []
        errors: list[FirstbreakError] = []
        for files in chosen:
            try:
                reads += self._read_one(files, settled, alone=len(found) == 1)
            except FirstbreakError as error:
                errors.append(error)
        if not reads:
            raise errors[0]
        return reads

    def written(self, log: RunLog) -> float:
        """Return the newest modification time of the files that `log` was read from."""
        marks = [mark for path in log.provenance.read if (mark := self._mark_of(path)) is not None]
        return max((mark.modified_ns for mark in marks), default=0) / 1e9

    def _mark_of(self, path: str) -> Mark | None:
        mark = self._marks.get(path)
        if mark is None and os.path.isdir(path):  # a reader of whole folders
            inside = [m for p, m in self._marks.items() if p.startswith(f"{path}{os.sep}")]
            return max(inside, key=lambda m: m.modified_ns, default=None)
        return mark

    def _newest(self, found: list[RunFiles]) -> RunFiles:
        """Choose the run to watch: one that began since, else the one watched so far, else the one written last.

        The one watched so far is left when it is silent and another is written.
        """
        new = [run for run in found if self._known and run.path not in self._known]
        self._known |= {run.path for run in found}
        held = next((run for run in found if run.path == self._held), None)
        candidates = new or found
        newest = max(candidates, key=_written)
        if held is not None and not new and _written(newest) - _written(held) < self.silence_s:
            newest = held
        self._held = newest.path
        return newest

    def _read_one(self, files: RunFiles, settled: bool, *, alone: bool) -> list[Read]:
        """Read one run; `alone` in the place, so that all of the place belongs to it."""
        place = self.place if alone else files.path
        cut = [] if settled else torn(files)
        if cut:
            with whole_lines(files, cut) as mirror:
                logs = [at_home(log, mirror, files.path) for log in self.load(mirror)]
        else:
            logs = self.load(place)
        logs = [log for log in logs if log.path.partition("#")[0] == str(files.path)] or logs
        if not self.every and len(logs) > 1:
            logs = [max(logs, key=_last_wall)]
        return [Read(log, self.written(log), bool(cut)) for log in logs]


def _written(files: RunFiles) -> float:
    """Return the newest modification time of a run's logs."""
    times: list[float] = []
    for path, reader in files.files:
        try:
            inside = [p for p in path.rglob("*") if p.is_file()] if reader.folders else [path]
            times += [p.stat().st_mtime for p in inside]
        except OSError:
            continue
    return max(times, default=0.0)


def _last_wall(log: RunLog) -> float:
    """Return the wall time of the newest row, 0 where the log does not tell."""
    return max((float(s.wall[-1]) for s in log.series if s.wall is not None and len(s)), default=0.0)


@dataclass
class RemoteSource:
    """A run on a server, asked seldom, and ever more seldom while it does not answer."""

    address: str
    load: Load = load_runs
    waits_s: float = POLITE_S
    patient: bool = False

    @property
    def name(self) -> str:
        """The address as given."""
        return self.address

    def look(self) -> tuple[tuple[Change, ...], str]:
        """Return nothing: a server tells only when it is asked for the run."""
        return (), ""

    def read(self, *, settled: bool = False) -> list[Read]:
        """Fetch the run."""
        try:
            logs = self.load(self.address)
        except UnreadableError:
            self.waits_s = min(2.0 * self.waits_s, MOST_PATIENT_S)
            raise
        self.waits_s = POLITE_S
        return [Read(log, _last_wall(log)) for log in logs]

    def written(self, log: RunLog) -> float:
        """Return the wall time of the newest row that was fetched."""
        return _last_wall(log)
