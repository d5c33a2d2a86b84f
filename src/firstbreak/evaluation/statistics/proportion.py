"""The interval of a share: right even where all passed or all failed, when the bootstrap sees no spread."""

from __future__ import annotations

import math

from ...errors import InputError
from .intervals import Interval
from .runs import SingleSeedError
from .student import normal_quantile


def wilson(passed: float, items: int, *, level: float = 0.95) -> Interval:
    """Return the share of `items` that `passed` with its score interval (Wilson 1927).

    Raises:
        SingleSeedError: there is a single item.
        InputError: the counts are no counts.
    """
    if items < 2:
        raise SingleSeedError("A share of a single item has no interval.", "Evaluate more items.")
    if not 0 <= passed <= items:
        raise InputError(f"{passed:g} of {items} is no share.", "Give how many passed, and of how many.")
    z2 = normal_quantile(0.5 + level / 2) ** 2
    share = passed / items
    centre = (share + z2 / (2 * items)) / (1 + z2 / items)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / (4 * items)) / items) / (1 + z2 / items)
    return Interval(share, max(centre - half, 0.0), min(centre + half, 1.0), level, "score", items)
