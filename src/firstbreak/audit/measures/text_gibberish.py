"""How much of a response is not words."""

from __future__ import annotations

import re

import numpy as np

from ..characters import script_of
from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "text/nonwords_frac": "share of words that no language spells so: no vowel, six consonants on end, letters among "
    "digits, or 30 letters long",
    "text/symbols_frac": "share of the visible characters that are neither letters, digits nor common punctuation",
    "text/longest_word_characters": "longest run of letters and digits",
}
NAN = float("nan")
LONGEST_WORD = 30
"""Letters; the longest word of running English text has 20-odd, German compounds seldom pass 30. Engineering
default."""
_NO_WORD = re.compile(r"[b-df-hj-np-tv-xz]{6}|(?:\d+[a-z]+){2}|(?:[a-z]+\d+){2}")
_VOWEL = re.compile(r"[aeiouy\d_]")
_PLAIN = bytes(b for b in range(256) if b <= 32 or chr(b).isalnum() or chr(b) in ".,;:!?'\"()-") + b"\x7f"
_GOOD: set[str] = set()
MOST_KNOWN = 65_536
"""Good words remembered."""
_BLANK = bytes(range(33)) + b"\x7f"


@measure(COLUMNS)
def gibberish(seen: Seen) -> Values:
    """Measure non-words, symbols and the longest word."""
    if not seen.words:
        return NAN, symbols_frac(seen), 0.0
    odd = nonwords_of(seen.distinct)
    nonwords = sum(map(odd.__contains__, seen.words)) / len(seen.words) if odd else 0.0
    return nonwords, symbols_frac(seen), max(map(len, seen.distinct))


def nonwords_of(words: set[str]) -> set[str]:
    """Return those of `words` that no language spells so; words once found good are not looked at again."""
    unknown = words - _GOOD
    odd = set(filter(is_nonword, unknown))
    if len(_GOOD) > MOST_KNOWN:
        _GOOD.clear()
    _GOOD.update(unknown - odd)
    return odd


def is_nonword(word: str) -> bool:
    """Whether no language spells a word so (Latin script, lower case); short ones are given the benefit of doubt."""
    if len(word) > LONGEST_WORD:
        return True
    if len(word) < 5 or not word.isascii():
        return False
    return _NO_WORD.search(word) is not None or _VOWEL.search(word) is None


def symbols_frac(seen: Seen) -> float:
    """Return the share of the visible characters that are symbols."""
    if seen.codes is None:
        data = seen.data
        visible = len(data.translate(None, _BLANK))
        return len(data.translate(None, _PLAIN)) / visible if visible else NAN
    codes, counts = seen.codes
    blank = (codes <= 32) | (codes == 0x7F) | (codes == 0xA0) | (codes == 0x3000)
    visible = int(counts[~blank].sum())
    return int(counts[~blank & is_symbol(codes)].sum()) / visible if visible else NAN


def is_symbol(codes: np.ndarray) -> np.ndarray:
    """Return which code points are neither letters, digits nor common punctuation [K]."""
    plain = np.isin(codes, np.frombuffer(_PLAIN, np.uint8)) & (codes < 128)
    marks = ((codes >= 0x300) & (codes <= 0x36F)) | ((codes >= 0x64B) & (codes <= 0x669))
    punctuation = ((codes >= 0x2010) & (codes <= 0x2027)) | ((codes >= 0x3001) & (codes <= 0x3011))
    wide = ((codes >= 0xFF01) & (codes <= 0xFF1F)) | (codes == 0x30FC) | (codes == 0xAB) | (codes == 0xBB)
    return ~(plain | marks | punctuation | wide | (script_of(codes) > 0))
