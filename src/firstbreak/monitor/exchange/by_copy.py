"""Whether the steps of each copy of an environment arrive by a map of its own.

Copies that are wrapped one by one (`NormalizeObservation` inside of `SyncVectorEnv`, as in CleanRL) have statistics of
their own: no one scale explains them all. And where a single copy of eight is mistreated, seven eighths of what arrives
are still right. So each copy is asked by itself, and the worst is told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .maps import EXACT, Map, moving, ordered, varied
from .transitions import Floats

LEAST = 32
"""Steps of one copy that are compared at least: of the 512 that are remembered up to 16 copies have so many.
Engineering choice: half of a row of the world; fewer hardly vary."""


class ByCopy:
    """Follows the maps of the observations of all copies.

    Attributes:
        worst: Share of the variance that follows of the worst entry of the worst copy, see `Map`; None for none.
    """

    def __init__(self) -> None:
        self._maps: dict[int, Map] = {}
        self.worst: float | None = None

    def observations(self, given: Floats, found: Floats, copy: NDArray[np.intp]) -> tuple[float | None, float | None]:
        """Return what `Map.take` says of the copy that follows least, and how far the maps of half of the copies moved.

        Half, as one copy may come to where its normaliser has not been, a robot that lies on its back.

        Args:
            given: What the environments gave [n, D].
            found: What came of it [n, D].
            copy: Which copy each step is of [n].
        """
        fits, shifts, entries = list[float](), list[float](), list[float]()
        for number, places in apart(copy):
            own = self._maps.setdefault(number, Map(moves=True))
            fit, shift = own.take(given[places], found[places])
            entries += [] if own.worst is None else [own.worst]
            fits += [] if fit is None else [fit]
            shifts += [] if shift is None else [shift]
        self.worst = min(entries, default=None)
        return min(fits, default=None), float(np.median(shifts)) if shifts else None


def rewards(given: Floats, found: Floats, copy: NDArray[np.intp]) -> float | None:
    """Return the share of the variance of rewards that follows, of the copy in which it is least; None if none varies.

    Args:
        given: What the environments paid [n].
        found: What came of it [n].
        copy: Which copy each step is of [n].
    """
    fits = list[float]()
    for _, places in apart(copy):
        one, other = given[places], found[places]
        if varied(one[:, None])[0]:
            fit = fitted(one, other)
            fits.append(fit if fit >= EXACT or not varied(other[:, None])[0] else max(fit, moving(one, other)))
    return min(fits, default=None)


def fitted(given: Floats, found: Floats) -> float:
    """Return the share of the variance of `found` [n] that follows from `given` [n], which varies."""
    if not varied(found[:, None])[0]:
        return 0.0
    together: Floats = (given - given.mean()) * (found - found.mean())
    fit = float(together.mean()) ** 2 / float(given.var() * found.var())
    return fit if fit >= EXACT else max(fit, ordered(given, found))


def apart(copy: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
    """Return the number and the places of each copy of which there are enough steps; nothing where there is but one."""
    found = [(int(number), np.flatnonzero(copy == number)) for number in np.unique(copy)]
    return [one for one in found if one[1].size >= LEAST] if len(found) > 1 else []
