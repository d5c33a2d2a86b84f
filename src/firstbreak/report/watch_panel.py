"""The live panel of a watch: the loop, the pulse of the run and its worst finding, within eighty columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..diagnosis import Diagnosis, Verdict
from ..monitor.watching.events import State
from .clean import plain
from .page import Face, Page
from .text import COLOURS, remedy_phrase
from .watch import STATE_STYLES, Facts, links, state_phrase
from .words import CLOCK_WORDS, WORST_FIRST, count, coverage_phrase, duration, number, short_path, verdict_phrase

if TYPE_CHECKING:
    from rich.text import Text

_MARK = 18
"""Columns of the word beside a link."""
_LINK = 20
"""Columns of the longest name of a link, and a blank."""
MOST_RUNS = 12
SPINNER = "|/-\\"


def waiting(face: Face, name: str, why: str, beat: int) -> str:
    """Return the panel while nothing is there, or while it is read for the first time (then there is no `why`)."""
    page = Page(face)
    page.line("-" * page.width, style="dim")
    page.line(f"{SPINNER[beat % 4]} {'waiting for' if why else 'reading'} {plain(name, 200)}", most=2, style="bold")
    page.line(plain(why, 300), most=3, style="dim")
    return page.text()


def panel(face: Face, diagnosis: Diagnosis, state: State, sign: str, facts: Facts, beat: int) -> str:
    """Return the panel of one run."""
    page = Page(face)
    page.line("-" * page.width, style="dim")
    _head(page, diagnosis, state, beat)
    for row in _grid(diagnosis, page.width):
        page._print(row)
    page.entry("pulse", pulse(diagnosis, facts), most=2)
    if state not in (State.RUNNING, State.WAITING):
        page.entry("state", state_phrase(state, sign, facts), most=2, style=STATE_STYLES.get(state, ""))
    _worst(page, diagnosis)
    page.entry("seen", coverage_phrase(diagnosis), most=2, style="dim")
    return page.text()


def roster(face: Face, runs: Sequence[tuple[Diagnosis, State, Facts]], beat: int) -> str:
    """Return the panel of several runs: one line each, broken ones first, as many as fit."""
    page = Page(face)
    page.line("-" * page.width, style="dim")
    page.line(f"{SPINNER[beat % 4]} {count(len(runs), 'run')}", style="bold")
    order = sorted(runs, key=lambda run: (WORST_FIRST[run[0].verdict], run[0].log.path))
    for diagnosis, state, facts in order[:MOST_RUNS]:
        where = f" at {diagnosis.first_break.link}" if diagnosis.first_break is not None else ""
        verdict = f"{diagnosis.verdict.value}{where}"
        body = f"{short_path(diagnosis.log.path)}  {verdict}, {state.value}, {pulse(diagnosis, facts)}"
        page.line(body, most=1, style=COLOURS[diagnosis.verdict] if diagnosis.first_break is not None else "")
    if len(order) > MOST_RUNS:
        page.line(f"and {len(order) - MOST_RUNS} more", style="dim")
    return page.text()


def _head(page: Page, diagnosis: Diagnosis, state: State, beat: int) -> None:
    mark = SPINNER[beat % 4] if state is State.RUNNING else "-"
    style = COLOURS[diagnosis.verdict]
    page.line(f"{mark} {short_path(diagnosis.log.path)}  {state.value}", most=1, style="bold")
    page.line(verdict_phrase(diagnosis), most=2, style=style)


def _grid(diagnosis: Diagnosis, width: int) -> list[Text]:
    """Return the links of the loop with their marks, in rows of two where two fit."""
    from rich.text import Text

    cells = links(diagnosis)
    columns = 2 if width >= 2 * (_LINK + _MARK) else 1
    room = width // 2 - _MARK if columns == 2 else _LINK
    rows = [Text() for _ in range(-(-len(cells) // columns))]
    for place, (link, mark, style) in enumerate(cells):
        rows[place // columns].append(f"{link:<{room}}"[:room])
        rows[place // columns].append(f"{mark:<{_MARK}}"[:_MARK], style=style)
    return rows


def _worst(page: Page, diagnosis: Diagnosis) -> None:
    """Add what broke first, or the worst there is, with cause and remedy."""
    first = diagnosis.first_break
    active = [f for f in diagnosis.findings if not f.ignored and f.severity.rank]
    if not active:
        return
    shown = next((f for f in active if first is not None and (f.rule, f.scope) == (first.rule, first.scope)), None)
    worst = shown or max(active, key=lambda f: f.severity.rank)
    page.entry("broke" if shown else worst.severity.value, f"{worst.name}: {plain(worst.message, 160)}", most=2)
    if diagnosis.causes and diagnosis.verdict is not Verdict.HEALTHY:
        cause = diagnosis.causes[0]
        rival = f" (or {cause.rivals[0]})" if cause.rivals else ""
        page.entry("cause", f"{cause.name}{rival}: {plain(cause.summary, 200)}", most=2)
        if cause.remedies:
            page.entry("do", remedy_phrase(cause.remedies[0]), most=2)


def pulse(diagnosis: Diagnosis, facts: Facts) -> str:
    """Return steps, rate and the time since the log was last written, in one line."""
    log = diagnosis.log
    planned, rate = facts.get("planned_steps"), facts.get("steps_per_s")
    parts = [f"{CLOCK_WORDS.get(log.clock, 'step')} {number(log.last_step)}"]
    if planned:
        parts[0] += f" of {number(planned)} ({100 * log.last_step / planned:.0f} %)"
    if log.clock != "rows":
        parts.append(f"{number(facts.get('rows') or 0.0)} rows")
    if rate is not None:
        quick = rate if rate < 100 else round(rate)
        parts.append(f"{number(quick)} a second" if rate >= 0.1 else f"{number(60 * rate)} a minute")
        if planned and planned > log.last_step and rate > 0:
            parts.append(f"{duration((planned - log.last_step) / rate)} to go")
    parts.append(f"written {duration(facts.get('silent_s') or 0.0)} ago")
    return ", ".join(parts)
