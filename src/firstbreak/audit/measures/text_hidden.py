"""Characters of a response that nobody sees."""

from __future__ import annotations

import unicodedata

from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "text/hidden_characters": "control, zero-width, direction, private and surrogate characters",
    "text/broken_characters": "replacement characters (U+FFFD): bytes that were no text",
}
_SEEN_ASCII = bytes(b for b in range(256) if 32 <= b < 127 or b in b"\t\n\r")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_WANTED = frozenset("\t\n\r\u200c\u200d\u00ad")
"""White space; the joiners that Persian, Indic scripts and emoji need; the soft hyphen."""


@measure(COLUMNS)
def hidden(seen: Seen) -> Values:
    """Count by Unicode's general category (Unicode 15.1, section 4.5)."""
    if seen.codes is None:
        return len(seen.data.translate(None, _SEEN_ASCII)), 0.0
    codes, counts = seen.codes
    found = broken = 0
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        if code == 0xFFFD:
            broken += count
        elif is_hidden(chr(code)):
            found += count
    return found, broken


def is_hidden(character: str) -> bool:
    """Whether a character is not seen and not wanted."""
    return unicodedata.category(character) in _HIDDEN and character not in _WANTED
