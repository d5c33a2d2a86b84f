"""What the numbers of `env/action_reading` mean: the slips on the way that actions are read as (`monitor.slips`)."""

from __future__ import annotations

READ_AS = (
    "no actions", "actions cut to whole numbers", "actions rounded to whole numbers",
    "actions whose part below 0 is lost", "actions whose part above 0 is lost", "the opposite actions",
    "actions with their entries in reverse",
    *(f"the same action for {times} steps" for times in (2, 3, 4, 6, 8, 12)),
    "actions of the step before", "actions of two steps before", "actions of three steps before",
    "the next choice", "the choice before", "the choices the other way round",
)  # fmt: skip
"""In order."""


def read_as(number: float) -> str:
    """Return what a reading makes of actions; a number below 0 is not known.

    >>> read_as(5.0), read_as(-1.0)
    ('the opposite actions', 'other actions')
    """
    return READ_AS[int(number)] if 0 <= number < len(READ_AS) else "other actions"
