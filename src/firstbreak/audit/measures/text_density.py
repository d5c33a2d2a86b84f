"""How much a response says for its length."""

from __future__ import annotations

from ..deflating import deflated_bytes
from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "text/distinct_words_frac": "share of different words among the first 100 words of the response",
    "text/new_bits_per_character": "bits that the response adds to the prompt (zlib), for each character",
}
FEWEST_WORDS = 20
"""Fewer words are nearly always all different. Engineering default."""
WINDOW_WORDS = 100
"""The share falls with the length of a text (Herdan 1960), so that all are measured over the same length."""
SHORT_CHARACTERS = 64
NAN = float("nan")


@measure(COLUMNS)
def density(seen: Seen) -> Values:
    """Measure the share of different words and the bits that are new, given the prompt."""
    head = seen.words[:WINDOW_WORDS]
    distinct = len(set(head)) / len(head) if len(head) >= FEWEST_WORDS else NAN
    if len(seen.text) < SHORT_CHARACTERS:
        return distinct, NAN
    return distinct, 8 * deflated_bytes(seen.data, seen.asked.data) / len(seen.text)
