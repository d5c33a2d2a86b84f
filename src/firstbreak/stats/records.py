"""Moves that break a series' own record: the past of the run is the measure of what is usual."""

from __future__ import annotations

import numpy as np

from ..series import Floats

BEFORE = 5
"""Values whose median is the level before: two wild ones among them do not matter."""

SLACK = 1 - 1e-9
"""Of a factor: what rounding may make of it."""


def middle_of_five(value: Floats) -> Floats:
    """Return the median [n - 4] of each five values on end of `value` [n], by ten comparisons of whole arrays."""
    a, b, c, d, e = (value[shift : value.size - 4 + shift] for shift in range(5))
    a, b = np.minimum(a, b), np.maximum(a, b)
    d, e = np.minimum(d, e), np.maximum(d, e)
    least, most = np.maximum(a, d), np.minimum(b, e)  # the smallest and the largest of the five are out
    low, high = np.minimum(least, most), np.maximum(least, most)
    return np.maximum(low, np.minimum(c, high))


def record_moves(
    value: Floats, *, stays: int, rows: int, floor: float, least: float = 0.0
) -> tuple[list[int], list[float]]:
    """Return the places at which `value` [n] moves further than it ever has, and by how many times its record.

    The move of a value is its distance from the median of the five before it; the record, that of all values before
    it, at least `floor`. A place counts where it and the values after it, `stays` in all, lie on one side and all
    beyond the record, with `rows` values or more before it. The factor is that of the nearest of them; infinite where
    the series had been at rest: its record is not above `floor`. Factors below `least` are left out.
    """
    last = value.size - stays + 1
    if last <= max(rows, BEFORE):
        return [], []
    before = middle_of_five(value[:-1])
    moves = np.abs(value[BEFORE:] - before)
    record = np.maximum.accumulate(moves)
    start = max(rows, BEFORE + 1)
    now, past = moves[start - BEFORE : last - BEFORE], record[start - BEFORE - 1 : last - BEFORE - 1]
    broken = np.flatnonzero((now > past) & ((past <= floor) | (now >= SLACK * least * past)))
    places: list[int] = []
    factors: list[float] = []
    for place in (broken + start).tolist():
        level, bar = before[place - BEFORE], max(float(record[place - BEFORE - 1]), floor)
        after = value[place : place + stays] - level
        nearest = float(np.abs(after).min()) if after.min() > 0 or after.max() < 0 else 0.0
        factor = nearest / bar if bar > floor else float("inf")
        if nearest > bar and factor >= least:
            places.append(place)
            factors.append(factor)
    return places, factors
