"""What a watcher tells: plain data, ready to be printed, written as JSON or sent out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ...diagnosis import Diagnosis
from ...finding import Finding


class State(StrEnum):
    """How the watched run is doing, as far as its log and its process tell."""

    WAITING = "waiting"
    """Nothing that can be read is there yet."""
    RUNNING = "running"
    STALLED = "stalled"
    """Nothing was written for far longer than this run's own pace, and it has not ended."""
    ZOMBIE = "zombie"
    """The log is still written, but the step stands still or every metric repeats itself."""
    GONE = "gone"
    """The process is no more, and the planned steps were not reached."""
    ENDED = "ended"
    """The process is no more; the log does not say how the run ended."""
    QUIET = "quiet"
    """Silent since before the watch began, and nothing tells whether the run was to go on."""
    FINISHED = "finished"
    CRASHED = "crashed"
    LOST = "lost"
    """The log was there and is not now, or can no longer be read."""


OVER = frozenset({State.FINISHED, State.CRASHED, State.ENDED, State.GONE, State.QUIET, State.STALLED})
"""States in which no more rows are to be expected."""
STOPPED = frozenset({State.STALLED, State.ZOMBIE, State.GONE})
"""States of a run that stopped training without an end."""


class Kind(StrEnum):
    """What happened."""

    WAITING = "waiting"
    RUN = "run"
    """A run is watched from here on."""
    LOOK = "look"
    """The log grew and was judged anew."""
    FINDING = "finding"
    RESOLVED = "resolved"
    STATE = "state"
    RESTART = "restart"
    """The log begins anew: cut short, replaced, or a new run in the same place."""
    ROTATED = "rotated"
    """The file was moved away or emptied, and the run goes on in a new one."""
    RESUME = "resume"
    """Steps went back; what is written later counts."""
    SEGMENT = "segment"
    """Another file of the same run."""
    LOST = "lost"
    BACK = "back"
    PROBLEM = "problem"
    """Something could not be read; the rest was."""
    END = "end"


@dataclass(frozen=True)
class Event:
    """One thing that happened. `text` may hold what a log said: escape it before it is shown."""

    kind: Kind
    wall: float
    """Seconds since the epoch."""
    text: str
    run: str = ""
    """Path of the run, `""` where it concerns the whole watch."""
    state: State = State.WAITING
    diagnosis: Diagnosis | None = None
    findings: tuple[Finding, ...] = ()
    alert: bool = False
    """Whether a person should hear of it: one cause, one alert."""
    cause: str = ""
    facts: dict[str, float | None] = field(default_factory=dict[str, float | None])
    """Numbers that go with it, their names ending in the unit."""
