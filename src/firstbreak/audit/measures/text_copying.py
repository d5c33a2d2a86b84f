"""How much of a response is taken from its prompt."""

from __future__ import annotations

import numpy as np

from ..measure import Values, measure
from ..seen import GRAM, Seen
from .text_repetition import longest_run

COLUMNS = {
    "text/copied_frac": "share of the response's runs of 4 words that occur in the prompt",
    "text/longest_copied_words": "words of the longest stretch made of the prompt's runs of 4 words",
}


@measure(COLUMNS)
def copying(seen: Seen) -> Values:
    """Measure the overlap of 4-grams with the prompt's."""
    known, grams = seen.asked.grams, seen.grams
    if not grams.size or not known.size:
        return None
    places = np.searchsorted(known, grams)
    places[places == known.size] = 0
    taken = known[places] == grams
    count = int(np.count_nonzero(taken))
    if not count:
        return 0.0, 0.0
    return count / grams.size, float(longest_run(taken) + GRAM - 1)
