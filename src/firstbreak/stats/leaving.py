"""How far a series leaves its own past, in units of that past: two measures that know no other scale.

Change detection against a process's own behaviour (Page 1954; Basseville and Nikiforov 1993), with ranges and records
in the place of means and deviations: what is learned drifts, and its noise has heavy tails.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..series import Floats, Mask
from .records import middle_of_five

Places = NDArray[np.intp]
PAIR, ON_END = 2, 3
"""Values of a block, and blocks on end that must all lie outside: one odd batch is no change. Engineering default."""
FROM, UNTIL, FEWEST = 0.5, 0.9, 4
"""The past of a block: the blocks between these shares of its place, as what came first is how learning began; how many
there must be. Engineering default."""
OVER, EARLIEST, LEAST_MOVES = 8, 0.25, 16
"""Values over which a move is taken; the share of the series before which moves are how learning began; moves that make
a record. Engineering default."""
STIRRING = 0.5
"""Share of a past that must differ from the value before: what rests has no range. Engineering default."""
STILL = 1e-9
"""Changes up to which a value is the one before: sums move by rounding."""


def beyond_range(value: Floats, floor: float) -> Floats:
    """Return for each value [n] how many ranges of its past it and those before it lie outside; -inf where unknown.

    A block is the mean of `PAIR` values, its past the blocks from `FROM` to `UNTIL` of the way to it. The measure is
    the least of `ON_END` blocks and stands at the last value of the last; below 0 where one lies inside. A range is at
    least `floor`.
    """
    found = np.full(value.size, -np.inf)
    blocks = value[: value.size // PAIR * PAIR].reshape(-1, PAIR).mean(axis=1)
    place = np.arange(blocks.size, dtype=np.intp)
    start, stop = (FROM * place).astype(np.intp), (UNTIL * place).astype(np.intp)
    ask = stop - start >= FEWEST
    ask[ask] = _stirs(blocks, start[ask], stop[ask])
    if not ask.any():
        return found
    high = extremes(blocks, start[ask], stop[ask], np.maximum)
    low = extremes(blocks, start[ask], stop[ask], np.minimum)
    outside = np.full(blocks.size, -np.inf)
    now = blocks[ask]
    outside[ask] = np.maximum(now - high, low - now) / np.maximum(high - low, floor)
    least = outside.copy()
    for back in range(1, ON_END):
        least[back:] = np.minimum(least[back:], outside[:-back])
    least[: ON_END - 1] = -np.inf
    found[PAIR - 1 :: PAIR] = least
    return found


def beyond_record(value: Floats, floor: float) -> Floats:
    """Return for each value [n] how many times the record of such moves the last move is; -inf where unknown.

    A move is the distance of the median of five values on end from that of the five that end `OVER` values before. The
    record is the largest move that ended before this one began, and after `EARLIEST` of the way; at least `floor`.
    """
    found = np.full(value.size, -np.inf)
    level = middle_of_five(value) if value.size > OVER + LEAST_MOVES else value[:0]
    if level.size <= OVER:
        return found
    moves = np.zeros(level.size)
    moves[OVER:] = np.abs(level[OVER:] - level[:-OVER])
    place = np.arange(level.size, dtype=np.intp)
    start, stop = np.maximum((EARLIEST * place).astype(np.intp), OVER), place - OVER + 1
    ask = stop - start >= LEAST_MOVES
    ask[ask] = _stirs(level, start[ask], stop[ask])
    if ask.any():
        record = extremes(moves, start[ask], stop[ask], np.maximum)
        found[4:][ask] = moves[ask] / np.maximum(record, floor)
    return found


def extremes(
    value: Floats, start: Places, stop: Places, pick: Callable[[Floats, Floats], Floats]
) -> Floats:  # fmt: skip
    """Return the largest or least (`pick`) of `value` [n] in each stretch [start, stop) [k], none of them empty.

    Each stretch is covered by two of a length that is a power of 2 (Bender and Farach-Colton 2000).
    """
    length = stop - start
    power = np.frexp(length.astype(float))[1] - 1
    found = np.empty(length.size)
    table = value
    for level in range(int(power.max(initial=0)) + 1):
        here = power == level
        found[here] = pick(table[start[here]], table[stop[here] - (1 << level)])
        half = 1 << level
        if table.size > half:
            table = pick(table[:-half], table[half:])
    return found


def _stirs(value: Floats, start: Places, stop: Places) -> Mask:
    """Return in which of the stretches [start, stop) [k] of `value` [n] most values differ from the one before."""
    change = np.abs(np.diff(value)) > STILL
    count = np.concatenate(([0, 0], np.cumsum(change)))
    return count[stop] - count[start] >= STIRRING * (stop - start)
