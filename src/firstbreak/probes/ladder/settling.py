"""Is the answer still on its way, or has it settled elsewhere? Tolerance from the optimiser's budget, not a guess.

Each rung is tried with n steps. Where the answer is not within the tolerance (a part of the way to the nearest wrong
answer), the rung is trained anew with 2n steps and, on a second seed, with 4n; then, if that helps, with 8n and 16n.
The errors e(n), e(2n), e(4n) of a learner that is right but slow shrink at least geometrically in the number of
doublings, whether they fall exponentially or by a power of n, so their limit by Aitken's rule,

    e(4n) - d2 * q / (1 - q),   d1 = e(n) - e(2n),   d2 = e(2n) - e(4n),   q = d2 / d1,

is at zero; a learner that is still gathering speed has q >= 1. A limit clear of zero is another answer, which has by
then been seen on two seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

ROUNDS: tuple[tuple[tuple[int, int], ...], ...] = (((1, 0),), ((2, 0), (4, 1)), ((8, 0), (16, 1)))
"""Rounds of (multiple of the first try's steps, seed offset)."""

MOTION_FRAC = 0.05
"""An error that falls by less than this fraction over two doublings does not move: between two seeds and with a
constant learning rate that much is noise."""

GATHERING = 1.5
"""A fall this many times the one before is a learner at the foot of its curve, however little it has moved: with a
constant speed the second fall is twice the first."""

Where = Literal["right", "approaching", "settled"]


def where_it_goes(errors: Sequence[float], tolerance: float) -> Where:
    """Say where `errors`, in the order of growing budgets, are going; the last two are compared with the first."""
    if errors[-1] <= tolerance:
        return "right"
    if len(errors) < 3:
        return "approaching"
    first, middle, last = errors[-3:]
    fall_1, fall_2 = first - middle, middle - last
    if not math.isfinite(last):
        return "settled"
    if 0.0 < GATHERING * fall_1 <= fall_2:
        return "approaching"
    if last > (1.0 - MOTION_FRAC) * first or fall_2 <= MOTION_FRAC * last:
        return "settled"
    if fall_1 <= 0.0 or fall_2 >= fall_1:
        return "approaching"
    ratio = fall_2 / fall_1
    limit = last - fall_2 * ratio / (1.0 - ratio)
    return "approaching" if limit <= tolerance else "settled"
