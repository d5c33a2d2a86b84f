"""Whether a watched run lives: when it was last written, when it last advanced, and what follows from both."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...runlog import RunLog
from .cadence import RATE_ROWS, UNKNOWN_PACE_S, Pace, pace_of, patience_s, planned, points, reached
from .events import State
from .process import alive, writer_of

KNOWN_WRITES = 3
"""Gaps between writes that must have been seen before the pace of writing counts as known: buffers are flushed
seldom (TensorBoard's every two minutes), however often a row is logged."""
DEAD_GAPS, DEAD_LEAST_S = 3.0, 5.0
"""A writer that cannot be found counts as gone after three of its usual gaps: it may run where we cannot see it."""


@dataclass
class Pulse:
    """The life signs of one run. All moments `at` are on one monotonic clock, in seconds."""

    stalled_after_s: float | None = None
    pid: int | None = None
    """The trainer's process, where the user named it."""
    alive: Callable[[int], bool] = alive
    written_at: float = float("nan")
    advanced_at: float = float("nan")
    read_at: float = float("nan")
    """When the log was read last: whether the run advances is not known of any later moment."""
    grew: bool = False
    """Whether the run advanced since the watch began."""
    writes: deque[float] = field(default_factory=lambda: deque[float](maxlen=RATE_ROWS))
    """When the files were seen to change."""
    progress: deque[tuple[float, float]] = field(default_factory=lambda: deque[tuple[float, float]](maxlen=RATE_ROWS))
    """(when, newest step) of each advance seen."""
    writer: int | None = None
    """The process that wrote the log, by the name of its file."""
    _paced: tuple[RunLog, Pace] | None = None
    _written: float = 0.0
    _signature: tuple[float, int] = (0.0, 0)
    _writer_gone: bool = False

    def heard(self, written: float, at: float, now: float) -> None:
        """Note that the files were last written at `written`, in seconds since the epoch; it is `now`."""
        if np.isnan(self.written_at):
            self.written_at = at - (max(now - written, 0.0) if written > 0 else 0.0)
            self.advanced_at = self.written_at
        elif written > 0 and written != self._written:
            self.written_at = at
            self.writes.append(at)
            if self._writer_gone:  # it writes after all, from where we cannot see it
                self.writer, self._writer_gone = -1, False
        self._written = written

    def took(self, log: RunLog, at: float) -> bool:
        """Note what was read; return whether the run advanced."""
        self.read_at = at
        signature = (log.last_step, points(log))
        first, advanced = self._signature == (0.0, 0), signature != self._signature
        if advanced:
            self._signature = signature
            self.progress.append((at, log.last_step))
        if advanced and not first:
            self.grew = True
            self.advanced_at = at
        if self.writer is None:
            self.writer = writer_of(log.provenance.read)
        return advanced

    def restarted(self) -> None:
        """Forget the progress of the run that was in this place before."""
        self.progress.clear()
        self.writer = None

    def pace(self, log: RunLog) -> Pace:
        """Return the pace of `log`, worked out once."""
        if self._paced is None or self._paced[0] is not log:
            self._paced = log, pace_of(log)
        return self._paced[1]

    def silent_s(self, at: float) -> float:
        """Return for how long nothing was written."""
        return max(at - self.written_at, 0.0)

    def patience_s(self, log: RunLog) -> float:
        """Return how long a silence is long for this run."""
        if self.stalled_after_s is not None:
            return self.stalled_after_s
        gaps, seen = self.pace(log).gaps_s, np.diff(np.asarray(self.writes))
        if seen.size < KNOWN_WRITES:
            return max(patience_s(gaps), UNKNOWN_PACE_S)
        return max(patience_s(gaps) if gaps.size else 0.0, patience_s(seen))

    def rate(self, log: RunLog) -> float | None:
        """Return steps a second of late, None while that cannot be told."""
        times = self.pace(log).times[-RATE_ROWS:]
        longest = max(log.series, key=len, default=None)
        if longest is not None and times.size > 2 and times[-1] > times[0] and log.clocks is not None:
            steps = log.clocks.at if longest.wall is None else np.unique(longest.step)
            steps = steps[-times.size :]
            return float((steps[-1] - steps[0]) / (times[-1] - times[0])) if steps.size == times.size else None
        if len(self.progress) < 2 or self.progress[-1][0] <= self.progress[0][0]:
            return None
        (t0, s0), (t1, s1) = self.progress[0], self.progress[-1]
        return (s1 - s0) / (t1 - t0) if s1 > s0 else None

    def state(self, log: RunLog, at: float) -> tuple[State, str]:
        """Return how the run is doing at the moment `at`, and by which sign (a word for `told`)."""
        silent, limit = self.silent_s(at), self.patience_s(log)
        if log.state == "crashed":
            return State.CRASHED, "log"
        if log.state == "finished" and (log.last_step >= (planned(log) or 0.0) or silent > limit):
            return State.FINISHED, "log"
        if self._gone(log, silent):
            return (State.GONE if reached(log) is False else State.ENDED), "process"
        if silent > limit:
            return (State.STALLED if self.grew or planned(log) is not None else State.QUIET), "silent"
        if self.pace(log).frozen:
            return State.ZOMBIE, "frozen"
        # Only a write since then shows that somebody lives: reading takes its time, too.
        if self.written_at > self.advanced_at and self.read_at - self.advanced_at > limit:
            return State.ZOMBIE, "standing"
        return State.RUNNING, ""

    def _gone(self, log: RunLog, silent: float) -> bool:
        """Whether the process that trains is known to be no more."""
        if self.pid is not None:
            return not self.alive(self.pid)
        gaps = self.pace(log).gaps_s
        usual = float(np.median(gaps)) if gaps.size else 0.0
        if self.writer is None or self.writer < 0 or silent <= max(DEAD_GAPS * usual, DEAD_LEAST_S):
            return False
        self._writer_gone = not self.alive(self.writer)
        return self._writer_gone
