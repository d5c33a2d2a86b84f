"""The check `copies-identical`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..copies import equal_copies_of
from ..recorded import NOTHING
from ..starts import differ, starts_of
from ..trying import tried
from ..world import Array, World


@check(
    "PEN025",
    "copies-identical",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Give every copy a seed of its own.",
)
def look(world: World) -> Answer:
    """Parallel copies play the same episode: together they are worth one.

    What is measured:
        All copies of a vector environment under equal actions for 30 steps; for a single environment, up to eight fresh
        ones that were reset without a seed, and how often starts repeat by chance.

    Why it hurts:
        N copies cost N times as much and give the information of one; the gradient noise is that of one.

    Usual causes:
        The same seed for every copy; a seed fixed in the constructor.

    What to try:
        Seed copy i with seed + i.

    When it is harmless:
        A deterministic task with one start.

    References:
        Failure modes R25; SuperSuit issue 89.
    """
    if not world.episodes:
        return NOTHING
    starts = tried(lambda: starts_of(world))
    if isinstance(starts, Skip):
        return starts
    if not any(differ(starts.fresh, row) for row in starts.seeds):
        return Skip("every seed gives the same start here")
    if world.kind != "vector":
        return _unseeded(len(starts.unseeded)) if starts.unseeded_alike else None
    copies = tried(lambda: equal_copies_of(world))
    if isinstance(copies, Skip):
        return copies
    count = len(copies.starts)
    rows = np.concatenate([copies.starts[None], copies.observations])
    paid = copies.rewards  # rows that agree while rewards differ are shared, not equal: another check
    alike = _alike(rows, paid)
    distinct = len(set(alike))
    if 2 * (count - distinct) < count:  # a pair by chance is no fault: in small worlds two copies may well agree
        return None
    largest = max(alike.count(k) for k in alike)
    words = (
        f"{largest} of {count} copies are equal"
        if distinct == count - largest + 1
        else (f"{count} copies are {distinct} different ones, each up to {largest} times,")
    )
    return Symptom(
        f"{words} under equal actions for {len(rows)} observations",
        "reset",
        {"copies": count, "equal_copies": largest, "distinct_copies": distinct},
    )


def _alike(rows: Array, paid: Array) -> list[int]:
    """Of each copy the first that it equals; rows [T, N, D], paid [T, N]."""
    found: list[int] = []
    for i in range(rows.shape[1]):
        same = (j for j in range(i) if not differ(rows[:, j], rows[:, i]) and not differ(paid[:, j], paid[:, i]))
        found.append(next(same, i))
    return found


def _unseeded(count: int) -> Symptom:
    return Symptom(
        f"{count} fresh environments without a seed start alike, though seeds change the start",
        "reset",
        {"copies": count},
        severity=Severity.WARNING,
    )
