"""How far what was counted of events with known odds is beyond them: as when a coin falls on one side too often."""

from __future__ import annotations

import math
from collections import deque
from itertools import islice

WINDOWS = (8, 16, 32, 64, 128)
"""Newest events that are counted together. Engineering choice: a coin that was turned shows in the least, one that is a
little unfair in the most."""
CERTAIN = 20.0
"""Nats that are told at once: chance reaches them once in 500 million windows (exp(-20)), that is in 1 % of runs of a
million events."""
NEAR = 4.0
"""Nats from which on every event is worth a look: chance reaches them in one window of 50. Engineering choice."""
AT_ONCE = 2
"""Rows that are told at once from one `take` to the next. Engineering choice."""
LEAST_ODDS = 0.01
"""Odds count as no less: two networks' best values may tie, and then rounding decides."""


class Odds:
    """Counts independent events, of each of which the odds are known, and holds the newest against these."""

    def __init__(self) -> None:
        self._seen: deque[tuple[bool, float]] = deque(maxlen=WINDOWS[-1])
        self._most: float | None = None
        self._told, self._now = 0, 0.0

    @property
    def near(self) -> bool:
        """Whether the newest events are so far beyond their odds that none should be passed over."""
        return self._now >= NEAR

    def add(self, happened: bool, odds: float) -> float | None:
        """Take one event; return the nats that are to be told at once, if any.

        Args:
            happened: Whether the event happened.
            odds: How probable that was.
        """
        self._seen.append((happened, odds))
        now = self._now = self._nats()
        self._most = now if self._most is None else max(self._most, now)
        if now < CERTAIN or self._told >= AT_ONCE:
            return None
        self._told += 1
        return now

    def take(self) -> float | None:
        """Return the most nats since the last call; None where nothing was counted."""
        most, self._most, self._told = self._most, None, 0
        return most

    def _nats(self) -> float:
        """The most of all windows: count times divergence of the share from the odds (Chernoff 1952; odds may differ
        from event to event, Hoeffding 1963, theorem 1); 0 where no more happened than the odds say."""
        most, hits, expected, count = 0.0, 0, 0.0, 0
        newest = reversed(self._seen)
        for window in WINDOWS:
            if window > len(self._seen):
                break
            for happened, odds in islice(newest, window - count):
                hits, expected = hits + happened, expected + odds
            count = window
            most = max(most, count * divergence(hits / count, max(LEAST_ODDS, expected / count)))
        return most


def divergence(share: float, odds: float) -> float:
    """Return the divergence of Kullback and Leibler of a larger `share` from `odds`, in nats an event; 0 of a smaller.

    >>> round(divergence(1.0, 0.5), 3), divergence(0.2, 0.5)
    (0.693, 0.0)
    """
    if share <= odds or odds >= 1:
        return 0.0
    rest = (1 - share) * math.log((1 - share) / (1 - odds)) if share < 1 else 0.0
    return share * math.log(share / odds) + rest
