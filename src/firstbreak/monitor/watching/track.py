"""One watched run: what was read of it last, what was told of it, how it is doing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...api import diagnose_log
from ...config import Settings
from ...diagnosis import Diagnosis
from ...runlog import Problem, RunLog
from ...series import Scope
from .cadence import LEAST_SILENCE_S, planned, rows
from .events import STOPPED, Event, Kind, State
from .ledger import Ledger, News
from .places import Change, Move
from .pulse import Pulse
from .rotation import begin_of, goes_on, joined
from .sources import Read

ANEW = frozenset({Move.TRUNCATED, Move.REPLACED, Move.APPEARED, Move.GONE})
"""Moves of files after which a log may begin anew; most often it does not: many writers replace their file."""
Judge = Callable[[RunLog, Settings], Diagnosis]


@dataclass
class Track:
    """A run that is watched. `judge` is the post-mortem's own: what it says of a prefix is what is told live."""

    settings: Settings
    pulse: Pulse
    judge: Judge = diagnose_log
    ledger: Ledger = field(default_factory=Ledger)
    log: RunLog = field(default_factory=lambda: RunLog(path=""))
    """What was read of the run, in files that are gone, too."""
    diagnosis: Diagnosis | None = None
    state: State = State.WAITING
    """As it was told last."""
    sign: str = ""
    """By which sign the state is known."""
    torn: bool = False
    """Whether a half-written line was left out of the last reading."""
    doubt: bool = False
    """The last reading looked like the start of another run, and was put off: a file may have been rewritten."""
    _current: State = State.WAITING
    _there: RunLog | None = None
    """What lay in the place at the last reading."""
    _gone: RunLog | None = None
    """What was read of this run before its files were rotated away."""
    _problems: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Troubles that were told."""
    _suspected: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Troubles met at the last reading and not told yet."""

    def take(self, read: Read, moved: Sequence[Change], at: float, now: float) -> list[Event]:
        """Judge the run as it was `read` at the moment `at`; return what is to be told."""
        before, there = self.log, self._there
        anew = there is not None and began_anew(there, read.log, moved)
        rotated = anew and there is not None and goes_on(there, read.log)
        self.doubt = anew and not rotated and not self.doubt
        if self.doubt:
            return []
        if rotated:
            self._gone = before
        elif anew:
            self._gone = None
            self.ledger = Ledger()
            self.pulse.restarted()
        log = read.log if self._gone is None else joined(self._gone, read.log)
        first = self.diagnosis is None
        self.log, self._there, self.torn = log, read.log, read.torn
        events = [] if first else self._continuity(before, log, anew and not rotated, now)
        if rotated and begin_of(read.log) > before.last_step:
            facts = {"steps_before": before.last_step, "steps": log.last_step}
            events.append(self._event(Kind.ROTATED, now, "", facts))
        self.pulse.heard(read.written, at, now)
        advanced = self.pulse.took(log, at)
        self._current = self.pulse.state(log, at)[0]
        self.diagnosis = self.judge(log, self.settings)
        if first:
            events.append(self._event(Kind.RUN, now, f"{log.path}"))
        elif advanced:
            events.append(self._event(Kind.LOOK, now, ""))
        events += self._problems_of(log, at, now)
        return events + [self._news(item, now) for item in self.ledger.update(self.diagnosis)]

    def tick(self, written: float, at: float, now: float) -> list[Event]:
        """Look at the life signs; return what is to be told when the state has changed."""
        self.pulse.heard(written, at, now)
        state, self.sign = self.pulse.state(self.log, at)
        if state is self.state:
            return []
        before, self.state = self.state, state
        self._current = state
        if before is State.WAITING and state is State.RUNNING:
            return []
        alert = state in STOPPED or state is State.CRASHED
        return [self._event(Kind.STATE, now, self.sign, self.facts(at), alert=alert)]

    def facts(self, at: float) -> dict[str, float | None]:
        """Return the numbers of the run's progress at the moment `at`."""
        return {
            "rows": rows(self.log),
            "steps": self.log.last_step,
            "planned_steps": planned(self.log),
            "steps_per_s": self.pulse.rate(self.log),
            "silent_s": self.pulse.silent_s(at),
            "standing_s": max(at - self.pulse.advanced_at, 0.0),
            "stalled_after_s": self.pulse.patience_s(self.log),
        }

    def _continuity(self, before: RunLog, log: RunLog, anew: bool, now: float) -> list[Event]:
        """Return what is to be told of restarts, resumes and further files."""
        if anew:
            facts = {"steps_before": before.last_step, "steps": log.last_step}
            return [self._event(Kind.RESTART, now, "", facts)]
        known = {(event.name, event.at) for event in before.events}
        events = [
            self._event(Kind.RESUME, now, event.text, {"steps": event.at})
            for event in log.events
            if event.name in ("resume", "restart") and (event.name, event.at) not in known
        ]
        new = sorted(set(log.provenance.read) - set(before.provenance.read))
        if new:
            events.append(self._event(Kind.SEGMENT, now, Path(new[-1]).name, {"files": len(new)}))
        return events

    def _problems_of(self, log: RunLog, at: float, now: float) -> list[Event]:
        """Return what could not be read, each trouble once however its counts grow.

        While a log is written a trouble counts when it is met twice: a file that was just begun has no numbers yet.
        """
        steady = self.pulse.silent_s(at) > LEAST_SILENCE_S
        met: set[tuple[str, str]] = set()
        events: list[Event] = []
        for problem in log.provenance.problems:
            key = (problem.path, re.sub(r"\d+", "#", problem.what))
            if key in self._problems or _half_written(problem):
                continue
            if steady or key in self._suspected:
                self._problems.add(key)
                events.append(self._event(Kind.PROBLEM, now, str(problem)))
            met.add(key)
        self._suspected = met
        return events

    def _news(self, item: News, now: float) -> Event:
        kind = Kind.RESOLVED if item.what == "over" else Kind.FINDING
        return self._event(kind, now, item.what, alert=item.alert, news=item)

    def _event(
        self,
        kind: Kind,
        now: float,
        text: str,
        facts: Mapping[str, float | None] | None = None,
        *,
        alert: bool = False,
        news: News | None = None,
    ) -> Event:
        return Event(
            kind,
            now,
            text,
            run=self.log.path,
            state=self._current,
            diagnosis=self.diagnosis,
            findings=() if news is None else (news.finding,),
            alert=alert,
            cause="" if news is None else news.cause,
            facts=dict(facts or {}),
        )


def _half_written(problem: Problem) -> bool:
    """Whether this is what every live log shows now and then."""
    return "cut off" in problem.what


def began_anew(before: RunLog, log: RunLog, moved: Sequence[Change]) -> bool:
    """Return whether `log` is another run than `before` in the same place: its files changed hands, and so did what
    they hold (steps went back, the first step is a later one, or the first numbers are others).
    """
    own = {*before.provenance.read, *log.provenance.read}
    if not any(change.move in ANEW and (change.path in own or change.path == log.path) for change in moved):
        return False
    if log.last_step < before.last_step or begin_of(log) > begin_of(before):
        return True
    old, new = _first_values(before), _first_values(log)
    shared = old.keys() & new.keys()
    return bool(shared) and all(old[key] != new[key] for key in shared)


def _first_values(log: RunLog) -> dict[tuple[str, Scope], str]:
    """Return the first number of every metric, as text so that NaN equals NaN."""
    return {(s.metric, s.scope): np.format_float_scientific(s.value[0]) for s in log.series if len(s)}
