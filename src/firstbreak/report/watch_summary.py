"""The closing words of a watch: each run as a diagnosis in short, and how it was left."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..diagnosis import Diagnosis
from ..monitor.watching.events import Event, State
from .clean import plain
from .page import Face, Page
from .text import COLOURS
from .watch import STATE_STYLES, state_phrase
from .words import findings_phrase, short_path, verdict_phrase


def summary(events: Sequence[Event], face: Face) -> str:
    """Return the summary of every run that was watched."""
    page = Page(face)
    if not events:
        page.line("Nothing had been read when the watch ended.", style="bold")
    for event in events:
        if event.diagnosis is not None:
            _run(page, event, event.diagnosis)
    return page.text()


def _run(page: Page, event: Event, diagnosis: Diagnosis) -> None:
    page.line(verdict_phrase(diagnosis), style=COLOURS[diagnosis.verdict], most=3)
    page.entry("run", short_path(event.run), most=1)
    state = event.state
    if state not in (State.WAITING, State.LOST):
        page.entry("state", state_phrase(state, event.text, event.facts), most=2, style=STATE_STYLES.get(state, ""))
    elif state is State.LOST:
        page.entry("state", "lost: the log could not be read any more", style=STATE_STYLES[state])
    page.entry("found", findings_phrase(diagnosis.findings) or "nothing", most=1)
    place = event.run.partition("#")[0]
    page.entry("more", f"firstbreak diagnose {shlex.quote(plain(place, 200))}", most=2)
