"""The layout of the terminal face: a label column at the left, wrapped text at the right.

Text is never read as markup, so nothing a log contains can style, link or move the cursor.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .clean import to_ascii

if TYPE_CHECKING:
    from rich.text import Text

LABEL = 8
"""Columns of the label at the left."""


@dataclass(frozen=True)
class Face:
    """What a terminal can show. The default is what a pipe or a file gets."""

    width: int = 80
    colour: bool = False
    ascii_only: bool = False


PLAIN = Face()


class Page:
    """Lines of a report under construction."""

    def __init__(self, face: Face = PLAIN) -> None:
        from rich.console import Console

        self.face = face
        self.width = max(face.width, 40)
        self.ascii_only = face.ascii_only
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=self.width,
            force_terminal=face.colour,
            force_jupyter=False,
            color_system="standard" if face.colour else None,
            no_color=not face.colour,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )

    def entry(self, label: str, body: str, *, most: int = 99, style: str = "", indent: int = 0) -> None:
        """Add `body` under `label`, wrapped with a hanging indent, cut to `most` lines."""
        from rich.text import Text

        left = LABEL + indent
        for index, line in enumerate(self._wrapped(body, self.width - left, most, style)):
            head = label if index == 0 else ""
            self._print(Text().append(f"{head:<{left}}", style="dim").append_text(line))

    def line(self, body: str = "", *, most: int = 99, style: str = "") -> None:
        """Add `body` over the whole width, wrapped, cut to `most` lines."""
        for line in self._wrapped(body, self.width, most, style):
            self._print(line)

    def drawing(self, marks: str, *, style: str = "") -> None:
        """Add characters whose columns matter, right of the labels."""
        from rich.text import Text

        self._print(Text(" " * LABEL + marks[: self.width - LABEL], style=style))

    def verbatim(self, text: str, *, style: str = "", indent: int = 0) -> None:
        """Add a line to be copied: never wrapped, never cut."""
        from rich.text import Text

        line = Text(" " * (LABEL + indent) + text, style=style)
        self._console.print(line, overflow="ignore", no_wrap=True, crop=False)

    def heading(self, title: str) -> None:
        """Add an empty line and a title."""
        self.line()
        self.line(title, style="bold")

    def _wrapped(self, body: str, width: int, most: int, style: str) -> list[Text]:
        from rich.text import Text

        lines = list(Text(body, style=style).wrap(self._console, width)) or [Text("")]
        for line in lines:
            line.rstrip()
        if len(lines) > most:
            last = lines[most - 1]
            last.truncate(width - 3)
            last.rstrip()
            lines = [*lines[: most - 1], last.append("…")]
        return lines

    def _print(self, text: Text) -> None:
        text.rstrip()
        self._console.print(text, overflow="crop", no_wrap=True, crop=True)

    def text(self) -> str:
        """Return the finished page."""
        text = self._out.getvalue()
        return to_ascii(text) if self.ascii_only else text
