"""One sample on a screen of the terminal."""

from __future__ import annotations

from ...audit.labels.queue import Item
from ..page import PLAIN, Face, Page
from .words import SCALE_WORDS, parts_of

KEYS = "s skip   b back   m more   q stop"
FRAME = 5
"""Lines of a screen that are not text of the sample."""


def screen(
    item: Item, number: int, total: int, *, face: Face = PLAIN, height: int = 0, part: int = 0, mask: bool = False
) -> str:
    """Return the screen for one sample: what it is, its texts, the keys.

    Args:
        height: lines of the screen; 0 shows all of the sample.
        part: which screenful of a sample that is longer than that; beyond the last one it begins again.
    """
    body = _body(item, face, mask)
    room = max(height - FRAME, 5) if height else len(body)
    screens = max(1, -(-len(body) // room))
    first = part % screens * room
    page = Page(face)
    more = f", part {part % screens + 1} of {screens}" if screens > 1 else ""
    page.line(f"Sample {number} of {total}{more}", style="bold")
    head = page.text() + "-" * page.width + "\n"
    end = Page(face)
    end.line(SCALE_WORDS)
    end.line(KEYS, style="dim")
    return head + "\n".join(body[first : first + room]) + "\n" + "-" * page.width + "\n" + end.text()


def _body(item: Item, face: Face, mask: bool) -> list[str]:
    page = Page(face)
    for part in parts_of(item, mask):
        for index, line in enumerate(part.lines):
            page.entry(part.title[:9] if index == 0 else "", line, indent=2)
    return page.text().rstrip("\n").split("\n")
