"""The words of a watch: one line for each event, and the status of a run. Text from logs is escaped."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ..diagnosis import Diagnosis, Sight
from ..finding import LOOP, Severity
from ..monitor.watching.events import Event, Kind, State
from ..runlog import RunLog
from .clean import plain
from .page import Face, Page
from .words import CLOCK_WORDS, count, duration, findings_phrase, number, onset_phrase, run_phrase, short_path

Facts = Mapping[str, float | None]
WORDS = {
    "new": {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "note"},
    "worse": {Severity.ERROR: "NOW ERROR", Severity.WARNING: "NOW WARNING", Severity.INFO: "note"},
    "back": {Severity.ERROR: "BACK", Severity.WARNING: "BACK", Severity.INFO: "back"},
}
STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "dim"}
STATE_STYLES = {
    State.RUNNING: "green",
    State.FINISHED: "green",
    State.STALLED: "bold red",
    State.ZOMBIE: "bold red",
    State.GONE: "bold red",
    State.CRASHED: "bold red",
    State.LOST: "bold yellow",
}
_TIME = 10
"""Columns of the time of day and the space after it."""


def lines(event: Event, face: Face, *, named: bool = False) -> str:
    """Return what is printed for `event`; with `named` the run is named, where several are watched."""
    page = Page(face)
    when = time.strftime("%H:%M:%S", time.localtime(event.wall))
    body = phrase(event)
    if named and event.run:
        body = f"{short_path(event.run)}: {body}"
    page.entry(when, body, most=4, style=_style(event), indent=_TIME - 8)
    return page.text()


def _style(event: Event) -> str:
    if event.kind is Kind.FINDING and event.findings:
        return STYLES[event.findings[0].severity] if event.alert else ""
    if event.kind is Kind.STATE:
        return STATE_STYLES.get(event.state, "")
    return {Kind.LOST: "bold yellow", Kind.RESTART: "bold", Kind.LOOK: "dim"}.get(event.kind, "")


def phrase(event: Event) -> str:
    """Return `event` as a sentence."""
    if event.kind is Kind.FINDING:
        return _finding(event)
    if event.kind is Kind.RESOLVED:
        finding = event.findings[0]
        at = "" if finding.resolved_at is None else f" at {clock_position(event.diagnosis, finding.resolved_at)}"
        return f"over: {finding.name} has passed{at}"
    if event.kind is Kind.STATE:
        return state_phrase(event.state, event.text, event.facts)
    if event.kind is Kind.RUN and event.diagnosis is not None:
        return f"watching {short_path(event.run)}: {run_phrase(event.diagnosis.log)}"
    if event.kind is Kind.LOOK and event.diagnosis is not None:
        return f"{status_phrase(event.diagnosis)}"
    return _notice(event)


def _notice(event: Event) -> str:
    """Return the sentence of an event that concerns files rather than findings."""
    text = plain(event.text, 300)
    facts = event.facts
    match event.kind:
        case Kind.WAITING:
            return f"waiting for a run to appear (Ctrl-C ends, --wait S bounds it): {text}"
        case Kind.LOST:
            return f"LOST: {text}"
        case Kind.BACK:
            return f"back: {text} can be read again"
        case Kind.RESTART:
            before, steps = facts.get("steps_before") or 0.0, facts.get("steps") or 0.0
            return f"restart: the log begins anew (it was at {number(before)}, now at {number(steps)})"
        case Kind.ROTATED:
            before, steps = facts.get("steps_before") or 0.0, facts.get("steps") or 0.0
            return f"rotated: the run goes on in a new file (it was at {number(before)}, now at {number(steps)})"
        case Kind.RESUME:
            return f"resumed at {clock_position(event.diagnosis, facts.get('steps') or 0.0)}: {text}"
        case Kind.SEGMENT:
            return f"another file of this run: {text}"
        case Kind.PROBLEM:
            return f"not read: {text}"
        case _:
            return text


def _finding(event: Event) -> str:
    finding = event.findings[0]
    word = WORDS[event.text][finding.severity]
    scope = f" [{plain(finding.scope, 40)}]" if str(finding.scope) else ""
    when = "" if event.diagnosis is None else f"; {onset_phrase(finding.onset, event.diagnosis.log)}"
    why = f"; cause: {event.cause}" if event.cause and event.alert else ""
    mild = "" if event.alert or finding.severity is Severity.INFO else " (same cause)"
    return f"{word} {finding.link}{scope}: {finding.name}: {plain(finding.message, 200)}{when}{why}{mild}"


def state_phrase(state: State, sign: str, facts: Facts) -> str:
    """Return how the run is doing, and by which sign."""
    silent = duration(facts.get("silent_s") or 0.0)
    planned = facts.get("planned_steps")
    steps = number(facts.get("steps") or 0.0)
    of = "" if planned is None else f" of {number(planned)} planned"
    match state:
        case State.STALLED:
            limit = duration(facts.get("stalled_after_s") or 0.0)
            return f"STALLED at {steps}{of}: nothing written for {silent} (long for this run: {limit})"
        case State.ZOMBIE if sign == "frozen":
            return f"ZOMBIE: rows still come, at {steps}, but no metric moves any more"
        case State.ZOMBIE:
            stood = duration(facts.get("standing_s") or 0.0)
            return f"ZOMBIE: the log is still written, but has stood at {steps} for {stood}"
        case State.GONE:
            return f"GONE: the process is no more, at {steps}{of}"
        case State.ENDED:
            return f"ended: the process is no more, at {steps}; the log does not say how it ended"
        case State.QUIET:
            return f"quiet: nothing written for {silent}; whether more was to come the log does not say"
        case State.FINISHED:
            return f"finished at {steps}"
        case State.CRASHED:
            return f"CRASHED at {steps}: its log says so"
        case _:
            return f"{state.value} at {steps}"


def clock_position(diagnosis: Diagnosis | None, position: float) -> str:
    """Return a position with the word of the run's clock: `update 120`."""
    clock = "rows" if diagnosis is None else diagnosis.log.clock
    return f"{CLOCK_WORDS.get(clock, 'step')} {number(position)}"


def status_phrase(diagnosis: Diagnosis) -> str:
    """Return verdict, length and what was found in one line."""
    found = findings_phrase(diagnosis.findings) or "nothing found"
    looked = f"{diagnosis.coverage.looked} of {count(diagnosis.coverage.applicable, 'rule')} looked"
    where = f" at {diagnosis.first_break.link}" if diagnosis.first_break is not None else ""
    return f"{diagnosis.verdict.value}{where} at {_length(diagnosis.log)}; {found}; {looked}"


def _length(log: RunLog) -> str:
    return f"{CLOCK_WORDS.get(log.clock, 'step')} {number(log.last_step)}"


def links(diagnosis: Diagnosis) -> list[tuple[str, str, str]]:
    """Return (link, its mark, style) of each link in the order of the loop."""
    broken = {f.link: f for f in reversed(diagnosis.findings) if not f.ignored and f.severity.rank}
    worst = {link: max((f.severity for f in diagnosis.findings if f.link is link and not f.ignored),
                       key=lambda s: s.rank) for link in broken}  # fmt: skip
    first = diagnosis.first_break.link if diagnosis.first_break is not None else None
    shown: list[tuple[str, str, str]] = []
    for link in LOOP:
        sight = diagnosis.coverage.links.get(link, Sight.BLIND)
        if link in worst:
            word = "BROKE FIRST" if link is first else "broken" if worst[link] is Severity.ERROR else "warning"
            shown.append((link.value, word, STYLES[worst[link]]))
        else:
            looked, rules = diagnosis.coverage.rules.get(link, (0, 0))
            word = f"{looked} of {rules}" if sight is Sight.PARTIAL else sight.value
            style = "dim" if sight is Sight.BLIND else "green" if diagnosis.coverage.well_seen(link) else "yellow"
            shown.append((link.value, word, style))
    return shown
