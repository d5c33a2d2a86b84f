"""What is made of `env/action_reread` and `env/action_reading`: slips on the way that actions are read as."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .view import Points

READ_AS = (
    "no actions", "actions cut to whole numbers", "actions rounded to whole numbers",
    "actions whose part below 0 is lost", "actions whose part above 0 is lost", "the opposite actions",
    "actions with their entries in reverse",
    *(f"{times} steps of the same action, or as much at once" for times in (2, 3, 4, 6, 8, 12)),
    "actions of the step before", "actions of two steps before", "actions of three steps before",
    "the next choice", "the choice before", "the choices the other way round",
)  # fmt: skip
"""In order."""


def read_as(reading: Points | None, step: float) -> str:
    """Return what the reading at `step` makes of actions.

    Args:
        reading: Numbers of readings; None: not known.
        step: Where the row is.
    """
    numbers = np.zeros(0) if reading is None else reading.value[reading.step == step]
    number = int(numbers[0]) if numbers.size else -1
    return READ_AS[number] if 0 <= number < len(READ_AS) else "other actions"


def on_end(ratio: Points, reading: Points | None, limit: float, rows: int) -> NDArray[np.bool_]:
    """Return from which rows [n] on `rows` are explained better by one and the same reading.

    Args:
        ratio: Error by the best reading over that by the actions as they were handed over.
        reading: Its number; None: not known.
        limit: What the ratio may be at most.
        rows: Rows on end.
    """
    found = np.zeros(len(ratio), dtype=np.bool_)
    if reading is None or len(ratio) < rows or not np.array_equal(ratio.step, reading.step):
        return found
    low = np.lib.stride_tricks.sliding_window_view(ratio.value <= limit, rows).all(1)
    numbers = np.lib.stride_tricks.sliding_window_view(reading.value, rows)
    found[: low.size] = low & (numbers.max(1) == numbers.min(1))
    return found
