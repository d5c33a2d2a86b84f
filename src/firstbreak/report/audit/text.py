"""Samples side by side in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from ...audit.views import Shown, cut
from ..clean import to_ascii
from ..page import PLAIN, Face
from . import words

GAP = "  "
PROMPT_LINES, RESPONSE_LINES = 6, 24
"""Lines shown of a text. Engineering default."""


def render(rows: Sequence[Sequence[Shown]], face: Face = PLAIN) -> str:
    """Return rows of samples, each row as columns of equal width that fill the page."""
    width = max(face.width, 40)
    lines: list[str] = ["", "Samples"]
    for row in rows:
        each = (width - len(GAP) * (len(row) - 1)) // len(row)
        lines.append("-" * width)
        for part in zip_longest(*(_column(one, each) for one in row), fillvalue=[""]):
            cells = zip_longest(*part, fillvalue="")
            lines.extend(GAP.join(_filled(cell, each) for cell in line).rstrip() for line in cells)
    if len(lines) == 2:
        lines.append("none")
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if face.ascii_only else text


def _column(one: Shown, width: int) -> list[list[str]]:
    """Return the parts of a sample, each as lines of at most `width` columns."""
    return [
        _wrapped(words.title(one), width, 3),
        [*_wrapped(words.scores(one), width, 6), ""],
        [*_wrapped(f"Q: {_fitting(one.prompt, width, PROMPT_LINES)}", width, PROMPT_LINES), ""],
        _wrapped(f"A: {_fitting(one.response, width, RESPONSE_LINES)}", width, RESPONSE_LINES),
    ]


def _fitting(text: str, width: int, lines: int) -> str:
    """Return a text cut in its middle so that its end is on the page too; lines are filled to six sevenths."""
    return words.text(cut(words.text(text), width * lines * 6 // 7 - len("Q:  […] ")))


def _wrapped(text: str, width: int, most: int) -> list[str]:
    """Return `text` in lines of at most `width` terminal columns; wide characters take two."""
    from rich.cells import cell_len, chop_cells

    lines: list[str] = []
    line = ""
    for word in text.split():
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *full, line = chop_cells(word, width)
        lines += full
    lines.append(line)
    if len(lines) > most:
        last = lines[most - 1]
        while cell_len(last) > width - 1:
            last = last[:-1]
        lines = [*lines[: most - 1], f"{last}…"]
    return lines


def _filled(text: str, width: int) -> str:
    from rich.cells import cell_len

    return text + " " * (width - cell_len(text))
