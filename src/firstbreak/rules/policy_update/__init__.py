"""Rules of the link `policy_update`, one file each."""

from __future__ import annotations

from firstbreak.view import Points, RunView

TAILS = ("policy/ratio_p01", "policy/ratio_min", "policy/ratio_max")
AT_ONE = 5e-3
"""Distance from 1 up to which a tail of the ratios rests. Engineering default: a step of any use spreads them by 0.01
and more; half of that."""


def loudest_at_rest(view: RunView, points: Points) -> Points:
    """Return the series that shows a policy at rest before `points` does: a tail of the ratios that keeps to 1.

    A KL of 0 is not far from the thousandth that is usual, and a loss of 0 lies amid what is; a tail of the ratios is
    at 0.9, and never at 1, in a policy that moves.
    """
    for name in TAILS:
        tail = view.get(name)
        if tail is not None and len(tail) >= len(points) > 0 and max(abs(tail.max - 1), abs(tail.min - 1)) <= AT_ONE:
            return tail
    return points
