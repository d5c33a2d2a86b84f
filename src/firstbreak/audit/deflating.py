"""How many bytes a text takes when it is compressed: what repeats costs next to nothing."""

from __future__ import annotations

import zlib

LARGEST_DICTIONARY = 32_768
"""What deflate can refer to (RFC 1951, section 2)."""
FEWEST_BITS, MOST_BITS = 9, 15
"""Window of deflate, as a power of 2."""


def deflated_bytes(data: bytes, known: bytes = b"") -> int:
    """Return the bytes of `data` compressed, by a code that knows the end of `known`.

    The window is just as large as the texts: making a larger one costs more time than compressing a page.
    """
    known = known[-LARGEST_DICTIONARY:]
    bits = min(MOST_BITS, max(FEWEST_BITS, (len(data) + len(known)).bit_length()))
    memory = min(8, bits - 5)  # one block of codes holds a text as large as the window
    if known:
        coder = zlib.compressobj(1, zlib.DEFLATED, -bits, memory, zlib.Z_DEFAULT_STRATEGY, known)
    else:
        coder = zlib.compressobj(1, zlib.DEFLATED, -bits, memory)
    return len(coder.compress(data)) + len(coder.flush())
