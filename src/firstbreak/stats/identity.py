"""Where a quantity that is known by construction stops to be what it was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..series import Floats

Flags = NDArray[np.bool_]


def identity_broken(step: Floats, right: Flags, off: Flags, *, held: int, lasts: int) -> tuple[float, float] | None:
    """Return the last step at which an identity held, and the first of `lasts` rows on end at which it is off.

    `held` rows on end were right just before; one row between, in which both are mixed, may be neither.

    Args:
        step: Positions of the rows [n].
        right: Where the identity holds [n].
        off: Where it is clearly broken [n]; what is neither counts as neither.
        held: Rows.
        lasts: Rows.
    """
    # Rows on end up to and with each that are right, by the place of the last that is not.
    places = np.arange(right.size)
    since = places - np.maximum.accumulate(np.where(right, -1, places))
    for place in np.flatnonzero(off):
        if place + lasts > off.size or not off[place : place + lasts].all():
            continue
        for last in (place - 1, place - 2):
            if last >= 0 and since[last] >= held and not off[last + 1 : place].any():
                return float(step[last]), float(step[place])
    return None
