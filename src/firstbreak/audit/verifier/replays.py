"""Comparing the passes of fresh processes: which responses scored differently?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...finding import Skip
from .record import Audit

TOLERANCE = 1e-3
"""Part of the distance between right and nonsense that does not count: sums in another order differ a little."""


@dataclass(frozen=True)
class Changed:
    """Responses whose score changed: how many, how many crossed the pass mark, and their rows."""

    count: int
    flipped: int
    asked: int
    rows: tuple[int, ...]


def differing(audit: Audit, one: str, other: str, *, within: bool = False) -> Changed | Skip:
    """Compare pass `one` of the first process with pass `other` of the second, or of the first one if `within`."""
    if len(audit.replays) < 2:
        return Skip("the responses were not asked again", ("--time-limit",), True)
    left, right = audit.replays[0].get(one, ()), audit.replays[0 if within else 1].get(other, ())
    if not left or len(left) != len(right):
        return Skip("asking again did not come to an end", ("--time-limit",), True)
    pairs = list(zip(left, right, audit.replayed_rows, strict=True))
    changed = [(a, b, row) for a, b, row in pairs if not _same(a, b, TOLERANCE * audit.span)]
    flipped = sum((a >= audit.mark) != (b >= audit.mark) for a, b, _ in changed)
    return Changed(len(changed), flipped, len(pairs), tuple(row for _, _, row in changed))


def moody(audit: Audit) -> bool:
    """Whether two fresh processes disagree on the same responses in the same order."""
    changed = differing(audit, "first", "first")
    return not isinstance(changed, Skip) and changed.count > 0


def _same(a: float, b: float, tolerance: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= tolerance
