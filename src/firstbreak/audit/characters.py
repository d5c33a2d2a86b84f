"""What kind of character a code point is: its script, or none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]

SCRIPTS = (
    "none", "Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Indic", "Thai", "Georgian", "Hangul", "Kana",
    "Han",
)  # fmt: skip
"""Scripts told apart; the rest of the world's are `none`."""
_BLOCKS: tuple[tuple[int, int, str], ...] = (
    (0x41, 0x5A, "Latin"),
    (0x61, 0x7A, "Latin"),
    (0xAA, 0xAA, "Latin"),
    (0xBA, 0xBA, "Latin"),
    (0xC0, 0xD6, "Latin"),
    (0xD8, 0xF6, "Latin"),
    (0xF8, 0x24F, "Latin"),
    (0x370, 0x3FF, "Greek"),
    (0x400, 0x52F, "Cyrillic"),
    (0x531, 0x58A, "Armenian"),
    (0x5D0, 0x5F2, "Hebrew"),
    (0x620, 0x6D3, "Arabic"),
    (0x750, 0x77F, "Arabic"),
    (0x900, 0xDFF, "Indic"),
    (0xE01, 0xE5B, "Thai"),
    (0x10A0, 0x10FF, "Georgian"),
    (0x1100, 0x11FF, "Hangul"),
    (0x1E00, 0x1EFF, "Latin"),
    (0x1F00, 0x1FFF, "Greek"),
    (0x3041, 0x3096, "Kana"),
    (0x30A1, 0x30FA, "Kana"),
    (0x3400, 0x4DBF, "Han"),
    (0x4E00, 0x9FFF, "Han"),
    (0xAC00, 0xD7AF, "Hangul"),
    (0xF900, 0xFAFF, "Han"),
    (0xFB50, 0xFDFF, "Arabic"),
    (0xFE70, 0xFEFC, "Arabic"),
    (0x20000, 0x3134F, "Han"),
)
"""First and last code point and script, by the blocks of Unicode 15.1."""
_EDGES = np.array([edge for lo, hi, _ in _BLOCKS for edge in (lo, hi + 1)], np.uint32)
_KIND = np.array([0] + [kind for _, _, name in _BLOCKS for kind in (SCRIPTS.index(name), 0)], np.int64)
_ASCII_OTHERS = bytes(b for b in range(256) if not chr(b).isalpha() or b > 127)


def code_points(text: str) -> tuple[Codes, NDArray[np.int64]]:
    """Return the different code points of `text` [K], rising, and how often each occurs [K]."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.unique(codes, return_counts=True)


def script_of(codes: Codes) -> NDArray[np.int64]:
    """Return the place in `SCRIPTS` of each code point [K]."""
    return _KIND[np.searchsorted(_EDGES, codes, side="right")]


def ascii_letters(data: bytes) -> int:
    """Return the letters of a text that is all ASCII."""
    return len(data.translate(None, _ASCII_OTHERS))


def letters_of(text: str) -> Mapping[str, int]:
    """Return how many letters of each script `text` holds; scripts without any are left out."""
    if text.isascii():
        count = ascii_letters(text.encode("ascii"))
        return {"Latin": count} if count else {}
    return by_script(*code_points(text))


def by_script(codes: Codes, counts: NDArray[np.int64]) -> dict[str, int]:
    """Return the letters of each script among `codes` [K] with their `counts` [K]."""
    totals = np.bincount(script_of(codes), weights=counts, minlength=len(SCRIPTS))
    return {name: int(n) for name, n in zip(SCRIPTS[1:], totals[1:], strict=True) if n}
