"""Makes untrusted text safe to print: control characters are shown as escapes, lines are cut at a width."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that move the cursor, change the direction of text, join lines or show nothing."""


def printable(text: str) -> str:
    r"""Return `text` on one line: what cannot be seen becomes `\n`, `\x1b`, `\u202e`; a tab becomes a space."""
    return "".join(_shown(c) for c in text)


def _shown(c: str) -> str:
    if c == "\t":
        return " "
    return c.encode("unicode_escape").decode("ascii") if unicodedata.category(c) in _HIDDEN else c


def clip(text: str, most: int) -> str:
    """Return `text` with at most `most` characters, the last a `…` where some are missing."""
    return text if len(text) <= most else text[: most - 1] + "…"


def brief(text: str, most: int) -> str:
    """Return `text` printable, on one line, with at most `most` characters; a long text costs no more than a short."""
    return clip(printable(text[: most + 1]), most)


def columns(text: str) -> int:
    """Return how wide printable `text` is on a terminal: ideographs take two columns, combining marks none."""
    return sum(_width(c) for c in text)


def _width(c: str) -> int:
    if unicodedata.combining(c):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Break printable `text` at blanks into lines of at most `width` columns; all but the first begin with `indent`."""
    lines: list[str] = []
    line, used = "", 0
    for word in _pieces(text, width - columns(indent)):
        wide = columns(word)
        if line.strip() and used + 1 + wide > width:
            lines.append(line)
            line, used = indent, columns(indent)
        blank = " " if line.strip() else ""
        line, used = line + blank + word, used + len(blank) + wide
    return [*lines, line]


def _pieces(text: str, width: int) -> list[str]:
    """Return the words of `text`, those wider than `width` cut up."""
    pieces: list[str] = []
    for word in text.split():
        piece, used = "", 0
        for c in word:
            if used + _width(c) > width:
                pieces.append(piece)
                piece, used = "", 0
            piece, used = piece + c, used + _width(c)
        pieces.append(piece)
    return pieces
