"""Makes text that came out of a log safe to show: no control characters, no terminal escapes, no hidden direction."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system commands (titles, hyperlinks)
    r"|\x1b[PX^_].*?(?:\x1b\\|$)"  # device control strings
    r"|[\x1b\x9b]\[?[0-?]*[ -/]*[@-~]",  # control sequences (colours, cursor)
    re.DOTALL,
)
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories that print nothing, reorder their surroundings or break the line."""


def plain(value: Any, limit: int = 400) -> str:
    """Return `value` as one line of visible characters, cut at `limit` with an ellipsis."""
    text = _ESCAPES.sub("", str(value)[: 4 * limit + 400])
    shown = "".join(" " if c in "\t\n\r\v\f\x85" else "" if unicodedata.category(c) in _HIDDEN else c for c in text)
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


ASCII = str.maketrans(
    {
        "·": "-",
        "…": "~",
        "–": "-",
        "—": "-",
        "→": "->",
        "≥": ">=",
        "≤": "<=",
        "×": "x",
        "✗": "x",
        "✓": "+",
        "▲": "^",
        "°": " deg",
    }
)
"""The characters that reports use beyond ASCII, for terminals that cannot show them."""


def to_ascii(text: str) -> str:
    """Return `text` with every character that ASCII lacks replaced."""
    return text.translate(ASCII).encode("ascii", "replace").decode("ascii")
