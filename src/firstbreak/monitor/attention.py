"""Cheap screens on every row: a value that is new in kind brings the look of the rules that concern it forward.

A screen raises no alarm. It only makes the monitor look now rather than at the next tick.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .history import MAX_KEYS

SETTLED = 12
"""Values of a key before one can be out of the ordinary; until then the ticks lie close. Engineering choice."""
REACH = 2.0
"""How many times the range seen so far a value must lie outside it: the range at least triples, so this is rare."""


class Screens:
    """The range of every key so far, whichever keys it was logged with."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self._layouts: dict[tuple[str, ...], NDArray[np.intp]] = {}
        self._low = self._high = np.empty(0)
        self._seen = np.empty(0, dtype=np.int64)
        self._bad = np.empty(0, dtype=bool)

    def odd(self, keys: tuple[str, ...], row: Sequence[float]) -> list[str]:
        """Take one row, `row` [k] for `keys` [k]; return the keys that are out of the ordinary.

        Those that are not finite for the first time, those far outside their range so far, and those of another sign
        than ever before.
        """
        at = self._layouts.get(keys)
        if at is None:
            at = self._new_layout(keys)
        values = np.asarray(row, dtype=np.float64)[: at.size]
        finite = np.isfinite(values)
        low, high, settled = self._low[at], self._high[at], self._seen[at] >= SETTLED
        with np.errstate(all="ignore"):
            reach = REACH * (high - low)
            far = (values > high + reach) | (values < low - reach)
            turned = ((values < 0) & (low > 0)) | ((values > 0) & (high < 0))
            strange = settled & finite & (far | turned)
        if not finite.all():
            strange |= ~finite & ~self._bad[at]
            self._bad[at] |= ~finite
            values = np.where(finite, values, np.nan)
        self._low[at], self._high[at] = np.fmin(low, values), np.fmax(high, values)
        self._seen[at] += finite
        return [keys[place] for place in np.flatnonzero(strange).tolist()] if strange.any() else []

    def _new_layout(self, keys: tuple[str, ...]) -> NDArray[np.intp]:
        if len(self._layouts) >= MAX_KEYS or len(self._place) + len(keys) > MAX_KEYS:  # keys that never repeat
            self.__init__()
        fresh = [key for key in keys[:MAX_KEYS] if key not in self._place]
        self._place.update({key: len(self._place) + i for i, key in enumerate(dict.fromkeys(fresh))})
        more = len(self._place) - self._low.size
        self._low = np.append(self._low, np.full(more, np.inf))
        self._high = np.append(self._high, np.full(more, -np.inf))
        self._seen = np.append(self._seen, np.zeros(more, dtype=np.int64))
        self._bad = np.append(self._bad, np.zeros(more, dtype=bool))
        at = np.array([self._place[key] for key in keys[:MAX_KEYS]], dtype=np.intp)
        self._layouts[keys] = at
        return at
