"""The watch itself: looks cheaply, reads when something changed, judges, tells. It never sleeps; its caller does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ...config import Settings
from ...diagnosis import Diagnosis
from ...errors import FirstbreakError, MissingExtraError
from ...readers.registry import all_readers
from ...registry import all_rules
from .events import OVER, STOPPED, Event, Kind, State
from .places import Change
from .process import alive
from .pulse import Pulse
from .sources import Read, Source
from .track import Track

SPACING = 20.0
"""Seconds of rest for each second of work: the watch takes at most a twentieth of one core."""


@dataclass(frozen=True)
class Wishes:
    """How to watch. `stalled_after_s` replaces the run's own pace; `pid` is the trainer's process."""

    interval_s: float = 2.0
    stalled_after_s: float | None = None
    pid: int | None = None
    every: bool = False
    """All runs of a folder, not only the newest."""


@dataclass
class Watcher:
    """Watches `source`. Call `poll`, tell its events, rest for `rest_s`, and again."""

    source: Source
    settings: Settings = field(default_factory=Settings)
    wishes: Wishes = Wishes()
    clock: Callable[[], float] = time.monotonic
    """Seconds that never go back."""
    now: Callable[[], float] = time.time
    """Seconds since the epoch."""
    work: Callable[[], float] = time.process_time
    """Seconds of computing that this process has used so far."""
    alive: Callable[[int], bool] = alive
    tracks: dict[str, Track] = field(default_factory=dict[str, Track])
    trouble: FirstbreakError | None = None
    """Why nothing could be read at the last attempt."""
    rest_s: float = 0.0
    _moved: list[Change] = field(default_factory=list[Change])
    _read_from: float = float("-inf")
    """The moment from which reading again is due."""
    _said: str = ""
    _lost: bool = False
    _doubt: bool = False
    """Whether the last reading failed for the first time: it may have met a file that was being rewritten."""
    _last_read: bool = False
    """Whether the last reading was made after the run was over: what it wrote before is then known."""

    def poll(self) -> list[Event]:
        """Look once; return what is to be told."""
        at, used = self.clock(), self.work()
        moved, missing = self.source.look()
        self.rest_s = max(self.wishes.interval_s, SPACING * (self.work() - used))
        self._moved += moved
        events: list[Event] = []
        if missing and self.tracks:
            events += self._without(f"{self.source.name} {missing}")
        elif self._due(at):
            events += self._read()
        for track in self.tracks.values() if not (self._lost or self._doubt) else ():
            events += track.tick(self.source.written(track.log), at, self.now())
        return events

    @property
    def unsettled(self) -> bool:
        """Whether a half-written line was left out of a run that is over: it will not get any longer."""
        return any(track.torn and track.state in OVER for track in self.tracks.values())

    def _due(self, at: float) -> bool:
        """Whether to read now: for a reason, and rested."""
        reason = bool(self._moved) or not self.tracks or self._lost or self._doubt or not self.source.patient
        last = bool(self._moved) and self._ended and not self._last_read
        return self.unsettled or last or (reason and at >= self._read_from)

    @property
    def _ended(self) -> bool:
        return bool(self.tracks) and all(track.state in OVER for track in self.tracks.values())

    def _read(self) -> list[Event]:
        """Read and judge; the next reading is due after a rest in proportion."""
        all_readers()  # finding these and the rules once is no part of what a reading costs
        all_rules()
        used = self.work()
        self._last_read = self._ended
        moved, self._moved = self._moved, []
        try:
            reads = self.source.read(settled=self.unsettled)
        except FirstbreakError as error:
            self.trouble = error
            self._moved = moved  # what changed matters once it can be read
            if isinstance(error, MissingExtraError) or not (self.source.patient or self.tracks):
                raise
            events = self._without(f"{error.message} {error.hint}".strip())
        else:
            events = self._taken(reads, moved)
        self._read_from = self.clock() + max(SPACING * (self.work() - used), self.source.waits_s)
        return events

    def _taken(self, reads: list[Read], moved: list[Change]) -> list[Event]:
        events: list[Event] = []
        if self._lost:
            events.append(self._event(Kind.BACK, self.source.name))
        self._lost, self._doubt, self._said, self.trouble = False, False, "", None
        paths = {read.log.path for read in reads}
        for path in [path for path in self.tracks if path not in paths]:
            del self.tracks[path]
        for read in reads:
            track = self.tracks.get(read.log.path)
            if track is None:
                pulse = Pulse(self.wishes.stalled_after_s, self.wishes.pid, self.alive)
                track = self.tracks[read.log.path] = Track(self.settings, pulse)
            events += track.take(read, moved, self.clock(), self.now())
            if track.doubt:
                self._moved = moved  # look again before it is believed
        return events

    def _without(self, why: str) -> list[Event]:
        """Return what is to be told while nothing can be read: each reason once, a loss at the second look."""
        if why == self._said:
            return []
        if self.tracks and not self._doubt:
            self._doubt = True
            return []
        self._said = why
        if not self.tracks:
            return [self._event(Kind.WAITING, why)]
        self._lost = True
        for track in self.tracks.values():
            track.state = State.LOST
        return [self._event(Kind.LOST, why, alert=True)]

    def _event(self, kind: Kind, text: str, *, alert: bool = False) -> Event:
        state = State.LOST if kind is Kind.LOST else State.WAITING
        return Event(kind, self.now(), text, run="", state=state, alert=alert)

    @property
    def diagnoses(self) -> list[Diagnosis]:
        """What is known of every watched run now, by path."""
        return [t.diagnosis for _, t in sorted(self.tracks.items()) if t.diagnosis is not None]

    @property
    def over(self) -> bool:
        """Whether no watched run is going to write any more, as far as can be told, and all it wrote was read."""
        unread = bool(self._moved) and not (self._last_read or self._lost)
        return bool(self.tracks) and not unread and all(self._is_over(track) for track in self.tracks.values())

    def _is_over(self, track: Track) -> bool:
        if track.state is State.LOST:
            return track.pulse.silent_s(self.clock()) > track.pulse.patience_s(track.log)
        return track.state in OVER and not track.torn

    @property
    def stopped(self) -> bool:
        """Whether a watched run stopped without an end, or its log is lost."""
        return any(track.state in STOPPED or track.state is State.LOST for track in self.tracks.values())

    def ending(self) -> list[Event]:
        """Return the closing words on every watched run."""
        at = self.clock()
        return [
            Event(Kind.END, self.now(), t.sign, run=path, state=t.state, diagnosis=t.diagnosis, facts=dict(t.facts(at)))
            for path, t in sorted(self.tracks.items())
            if t.diagnosis is not None  # else Ctrl-C came while it was judged for the first time
        ]
