"""Moves that break a series' own record: the past of the run is the measure of what is usual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..series import Floats

BEFORE = 5
"""Values whose median is the level before: two wild ones among them do not matter."""

TOGETHER = 16_384
"""Numbers that are measured in one go: so many stay in the processor's cache. Engineering choice."""
SLACK = 1 - 1e-9
"""Of a factor: what rounding may make of it."""


def middle_of_five(value: Floats) -> Floats:
    """Return the median [..., n - 4] of each five values on end of `value` [..., n], by ten comparisons of whole
    arrays."""
    a, b, c, d, e = (value[..., shift : value.shape[-1] - 4 + shift] for shift in range(5))
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
    return record_moves_of_each([value], stays=stays, rows=rows, floor=floor, least=least)[0]


def record_moves_of_each(
    values: Sequence[Floats], *, stays: int, rows: int, floor: float, least: float = 0.0
) -> list[tuple[list[int], list[float]]]:
    """Return what `record_moves` says of each of `values`: arrays cost the same for one series as for many."""
    found: list[tuple[list[int], list[float]]] = [([], []) for _ in values]
    alike: dict[int, list[int]] = {}
    for one, value in enumerate(values):
        alike.setdefault(value.size, []).append(one)
    for length, group in alike.items():
        if length - stays + 1 <= max(rows, BEFORE):
            continue
        most = max(1, TOGETHER // length)
        for some in (group[first : first + most] for first in range(0, len(group), most)):
            table = np.array([values[one] for one in some])
            for one, place, factor in _broken(table, stays, rows, floor, least):
                found[some[one]][0].append(place)
                found[some[one]][1].append(factor)
    return found


def _broken(table: Floats, stays: int, rows: int, floor: float, least: float) -> Iterator[tuple[int, int, float]]:
    """Yield series, place and factor of each record that is broken in `table` [k, n]."""
    last = table.shape[1] - stays + 1
    before = middle_of_five(table[:, :-1])
    moves = np.abs(table[:, BEFORE:] - before)
    record = np.maximum.accumulate(moves, axis=1)
    start = max(rows, BEFORE + 1)
    now, past = moves[:, start - BEFORE : last - BEFORE], record[:, start - BEFORE - 1 : last - BEFORE - 1]
    broken = np.nonzero((now > past) & ((past <= floor) | (now >= SLACK * least * past)))
    for one, place in zip(broken[0].tolist(), (broken[1] + start).tolist(), strict=True):
        level, bar = before[one, place - BEFORE], max(float(record[one, place - BEFORE - 1]), floor)
        after = table[one, place : place + stays] - level
        nearest = float(np.abs(after).min()) if after.min() > 0 or after.max() < 0 else 0.0
        factor = nearest / bar if bar > floor else float("inf")
        if nearest > bar and factor >= least:
            yield one, place, factor
