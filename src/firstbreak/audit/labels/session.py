"""One sitting of labelling: a key a sample, each label written at once, so that nothing is lost whenever it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from .queue import Item
from .record import Label, append, now

SCALE = {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0}
"""Key -> score: bad to good."""


class Press(StrEnum):
    """What a key did."""

    LABELLED = "labelled"
    MOVED = "moved"
    MORE = "more"
    QUIT = "quit"
    NOTHING = "nothing"


@dataclass
class Session:
    """Where a labeller is in the queue."""

    items: Sequence[Item]
    """What is still open."""
    path: Path
    labeller: str
    place: int = 0
    labelled: set[str] = field(default_factory=set[str])
    """Contents labelled in this sitting."""

    @property
    def item(self) -> Item | None:
        """The sample on the screen; None at the end."""
        return self.items[self.place] if self.place < len(self.items) else None

    def press(self, key: str) -> Press:
        """Do what a key says: 1 to 5 label, `s` skips, `b` goes back, `m` shows more, `q` ends.

        Raises:
            UnreadableError: the label cannot be written.
        """
        item = self.item
        if key in SCALE and item is not None:
            append(self.path, Label(item.content, SCALE[key], self.labeller, now(), item.also, item.drawn))
            self.labelled.add(item.content)
            self.place += 1
            return Press.LABELLED
        if key in ("s", "S") and item is not None:
            self.place += 1
            return Press.MOVED
        if key in ("b", "B") and self.place > 0:
            self.place -= 1
            return Press.MOVED
        if key in ("m", "M", " "):
            return Press.MORE
        return Press.QUIT if key in ("q", "Q", "\x04") else Press.NOTHING
