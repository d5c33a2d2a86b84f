"""What slips on the way make of actions: each a reading of a row's actions, under a number of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .transitions import MOST_CHOICES, Floats

Ints = NDArray[np.intp]
TIMES = (2, 3, 4, 6, 8, 12)
"""Steps of the world that one step may have become. Engineering choice: frames are skipped twice, or a driver holds."""
LATE = (1, 2, 3)
"""Steps by which actions may be late."""
CUT, HELD, BEHIND, CHOSEN = 0, 7, 13, 16
"""First numbers of slips of numbers, of actions that are held, that are late, and of slips of choices."""
MOST_COPIES = 16
"""Copies of an environment that take turns: with more, a row holds too few steps of each."""
ALIKE = 1e-9
"""Distance, as a share of the size, up to which two observations are the same one: sums round."""
CHAINED = 0.5
"""Share of the steps that must follow on each other: episodes end between the others."""


def of_numbers(action: Floats) -> tuple[Ints, Floats]:
    """Return numbers of slips [G] and what they make of actions that are numbers, [m, A] -> [G, m, A]."""
    zero = np.zeros_like(action)
    cut = [zero, np.trunc(action), np.rint(action), np.maximum(action, zero), np.minimum(action, zero), -action]
    made = np.stack([*cut, action[:, ::-1]] if action.shape[1] > 1 else cut)
    return np.arange(CUT, CUT + len(made)), made


def choices_of(action: Floats) -> int:
    """Return the highest choice that is made [m, MOST_CHOICES], counted from 1."""
    return int(np.flatnonzero(action.any(0)).max(initial=-1)) + 1


def of_choices(action: Floats, many: int) -> tuple[Ints, Floats]:
    """Return numbers of slips [G] and what they make of choices [m, MOST_CHOICES] -> [G, m, MOST_CHOICES].

    One higher or lower, all the other way round. Not always the same one: where choices do little (a car in a valley)
    or chance decides as well (slippery ice), one of four explains some rows better than those that were made.

    Args:
        action: One-hot.
        many: How many choices there are, two or more.
    """
    chosen = action.argmax(1)
    turned = np.stack([(chosen + 1) % many, (chosen - 1) % many, many - 1 - chosen])
    kept = slice(0, 3) if many > 2 else slice(2, 3)  # of two there is but one other
    return CHOSEN + np.arange(3)[kept], np.eye(MOST_CHOICES)[turned[kept]]


def behind(before: Floats, change: Floats, last: int) -> int:
    """Return how many steps lie between those of one copy, 0 where that cannot be told.

    Args:
        before: Observations before each step, in the order in which copies took them [m, D].
        change: What each step changed [m, D].
        last: What was found of the row before.
    """
    after = before + change
    size = ALIKE * (1 + np.abs(before).max(initial=0.0))
    tried = range(1, min(MOST_COPIES, len(before) // 2) + 1)
    for gap in sorted(tried, key=lambda one: one != last):
        if float(linked(before, after, gap, size).mean()) >= CHAINED:
            return gap
    return 0


def linked(before: Floats, after: Floats, gap: int, size: float) -> NDArray[np.bool_]:
    """Return which steps [m - gap] begin where the one `gap` before them ended."""
    return np.logical_and.reduce(np.abs(before[gap:] - after[:-gap]) <= size, axis=1)


def late(before: Floats, change: Floats, gap: int, steps: int) -> Ints:
    """Return the places of the steps [k] whose copy took `steps` steps of the same episode just before them.

    Args:
        before: [m, D].
        change: [m, D].
        gap: Steps that lie between those of one copy.
        steps: By how many actions would be late.
    """
    known = np.zeros(len(before), dtype=np.bool_)
    known[gap:] = linked(before, before + change, gap, ALIKE * (1 + np.abs(before).max(initial=0.0)))
    found = known.copy()
    for number in range(1, steps):
        found[number * gap :] &= known[: -number * gap]
    found[: steps * gap] = False
    return np.flatnonzero(found)
