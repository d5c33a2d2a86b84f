"""Where the events of a watch are shown: lines, lines of JSON, or a live panel at a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from ..monitor.watching.events import Event, Kind
from .page import Face
from .watch import lines
from .watch_json import line
from .watch_panel import panel, roster, waiting
from .watch_summary import summary

if TYPE_CHECKING:
    from ..monitor.watching.watcher import Watcher

HEARTBEAT_S = 300.0
"""Seconds after which a line of status is printed although nothing changed."""


class Screen(Protocol):
    """Shows a watch. Used as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def tell(self, event: Event) -> None:
        """Show one event."""
        ...

    def show(self, watcher: Watcher) -> None:
        """Show how things stand after a look."""
        ...

    def close(self, events: Sequence[Event], status: int) -> None:
        """Show the end; the command will leave with `status`."""
        ...


class JsonScreen:
    """One line of JSON for each event."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def tell(self, event: Event) -> None:
        """Print the event."""
        self._say(line(event))
        _flush()

    def show(self, watcher: Watcher) -> None:
        """Print nothing: a look that found news has told it."""

    def close(self, events: Sequence[Event], status: int) -> None:
        """Print the end of every run, or of a watch that read nothing, with the exit status."""
        for event in events or [Event(Kind.END, time.time(), "nothing was read")]:
            self._say(line(event, status))


class LineScreen:
    """Lines: every event; of the looks only those that changed the verdict, and one now and then."""

    def __init__(self, say: Callable[[str], None], face: Face, *, named: bool = False) -> None:
        self._say = say
        self._face = face
        self._named = named
        self._shown: dict[str, tuple[str, float]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def tell(self, event: Event) -> None:
        """Print the event, if it is worth a line."""
        if event.kind is Kind.LOOK and not self._due(event):
            return
        self._say(lines(event, self._face, named=self._named))
        _flush()

    def _due(self, event: Event) -> bool:
        if event.diagnosis is None:
            return False
        verdict = event.diagnosis.verdict.value
        before, at = self._shown.get(event.run, ("", 0.0))
        due = verdict != before or event.wall - at >= HEARTBEAT_S
        if due:
            self._shown[event.run] = verdict, event.wall
        return due

    def show(self, watcher: Watcher) -> None:
        """Print nothing: what changed was told."""

    def close(self, events: Sequence[Event], status: int) -> None:
        """Print the summary."""
        self._say(summary(events, self._face))


class LiveScreen:
    """Events scroll by above a panel that stays: the loop, the pulse, the worst finding."""

    def __init__(self, face: Face, *, named: bool = False) -> None:
        from rich.console import Console
        from rich.live import Live

        self._face = face
        self._console = Console(markup=False, highlight=False, emoji=False, width=face.width)
        self._live: Any = Live(console=self._console, auto_refresh=False, transient=True, vertical_overflow="crop")
        self._beat = 0
        self._lines = LineScreen(self._scroll, face, named=named)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def _scroll(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text.from_ansi(text.rstrip("\n")))

    def tell(self, event: Event) -> None:
        """Let the event scroll by; looks show in the panel."""
        if event.kind is not Kind.LOOK:
            self._lines.tell(event)

    def show(self, watcher: Watcher) -> None:
        """Draw the panel anew."""
        from rich.text import Text

        self._beat += 1
        self._live.update(Text.from_ansi(drawn(watcher, self._face, self._beat)), refresh=True)

    def close(self, events: Sequence[Event], status: int) -> None:
        """Take the panel away and print the summary."""
        self._live.stop()
        self._lines.close(events, status)


def drawn(watcher: Watcher, face: Face, beat: int) -> str:
    """Return the panel of a watch: of the one run, or one line for each of several."""
    at = watcher.clock()
    tracks = [track for track in watcher.tracks.values() if track.diagnosis is not None]
    if not tracks:
        return waiting(face, watcher.source.name, watcher.trouble.message if watcher.trouble else "", beat)
    if len(tracks) == 1:
        (track,) = tracks
        return panel(face, track.diagnosis, track.state, track.sign, track.facts(at), beat) if track.diagnosis else ""
    return roster(face, [(t.diagnosis, t.state, t.facts(at)) for t in tracks if t.diagnosis is not None], beat)


def _flush() -> None:
    import sys

    sys.stdout.flush()
