"""Calls made again: with the same arguments, after the same failure, round and round."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise

from .episode import Call

LONGEST_PERIOD = 4
"""Calls of the longest round that is looked for. Engineering default."""
ROUNDS = 3
"""Rounds from which it is a loop: twice is a second look. Engineering default."""


def repeated(calls: Sequence[Call]) -> int:
    """Count calls that were made before with the same arguments and the same result, the state unchanged in between.

    A call whose result differs in the end was waiting for something and does not count. Where the log does not say
    what changed the state, only calls made twice on end count.
    """
    told = all(c.made.changed is not None for c in calls)
    places: dict[tuple[str, str], list[int]] = {}
    for index, call in enumerate(calls):
        places.setdefault(call.key, []).append(index)
    count = 0
    for mine in places.values():
        if len(mine) < 2 or len({calls[i].made.result for i in mine}) > 1:
            continue
        for first, second in pairwise(mine):
            between = calls[first:second]
            count += not any(c.made.changed for c in between) if told else second == first + 1
    return count


def retries(calls: Sequence[Call]) -> tuple[int, int]:
    """Count calls that repeat the failed call before them unchanged, and those among them that failed again."""
    again = [b for a, b in pairwise(calls) if a.failed and a.key == b.key]
    return len(again), sum(c.failed for c in again)


def looped(calls: Sequence[Call]) -> int:
    """Return the calls of the longest loop: a round of 2 to `LONGEST_PERIOD` calls, with the same results each time."""
    return longest_loop([(c.key, c.made.result) for c in calls])


def longest_loop(marks: Sequence[Hashable]) -> int:
    """Return the length of the longest stretch of `marks` that repeats a round at least `ROUNDS` times, else 0."""
    best = 0
    for period in range(2, LONGEST_PERIOD + 1):
        run = 0
        for index in range(period, len(marks)):
            run = run + 1 if marks[index] == marks[index - period] else 0
            length = run + period
            if run >= (ROUNDS - 1) * period and length > best:
                best = length if len(set(marks[index - period + 1 : index + 1])) > 1 else best
    return best
