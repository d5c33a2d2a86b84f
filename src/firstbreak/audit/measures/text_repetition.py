"""How much of a response says again what it said before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..deflating import deflated_bytes
from ..measure import Values, measure
from ..seen import GRAM, Hashes, Seen

COLUMNS = {
    "text/repeated_frac": "share of runs of 4 words that occurred before in the response",
    "text/longest_repeated_words": "words of the longest stretch that repeats earlier text",
    "text/compressed_frac": "bytes after zlib for each byte of the response; low where it repeats itself",
}
SHORT_BYTES = 64
"""A shorter text is not compressed: the code's own overhead would be measured. Engineering default."""
NAN = float("nan")


@measure(COLUMNS)
def repetition(seen: Seen) -> Values:
    """Measure the share of repeated 4-grams (Welleck et al. 2019, arXiv 1908.04319), the longest repeated stretch, and
    the ratio of compression.
    """
    size = seen.grams.size
    data = seen.data
    ratio = deflated_bytes(data) / len(data) if len(data) >= SHORT_BYTES else NAN
    if not size:
        return NAN, 0.0, ratio
    ordered = np.sort(seen.grams)
    if not (ordered[1:] == ordered[:-1]).any():
        return 0.0, 0.0, ratio
    again = repeated(seen.grams)
    return np.count_nonzero(again) / size, longest_run(again) + GRAM - 1, ratio


def repeated(grams: Hashes) -> NDArray[np.bool_]:
    """Return which of `grams` [G] occurred before [G]."""
    order = np.argsort(grams, kind="stable")
    ordered = grams[order]
    again = np.zeros(grams.size, bool)
    again[order[1:][ordered[1:] == ordered[:-1]]] = True
    return again


def longest_run(flags: NDArray[np.bool_]) -> int:
    """Return the length of the longest run of True in `flags` [n]."""
    breaks = np.flatnonzero(~flags)
    if not breaks.size:
        return int(flags.size)
    inner = int(np.max(breaks[1:] - breaks[:-1])) - 1 if breaks.size > 1 else 0
    return max(int(breaks[0]), inner, int(flags.size - 1 - breaks[-1]))
