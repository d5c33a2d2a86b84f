"""Whether episodes end where they went on before: what counts as lost, or done, is another thing now."""

from __future__ import annotations

from collections import deque

import numpy as np

from .transitions import Floats

METRIC = "env/ends_inside_frac"
NEW, MEMORY = 0.05, 0.9
"""Share of observations that lie where none ever did, up to which it is known where episodes go on, and what of it
stays with every stretch of steps. Engineering choices."""
KNOWN = 16
"""Ends that must all have been outside of where episodes go on. Engineering choice: by chance one in twenty is."""
NEWEST = 4
"""Ends that are told of together. Engineering choice."""
AT_ONCE = 1.0
"""Share of them that must lie inside to be told at once. Engineering choice: of a double pendulum, which falls by a
height that is no entry, 21 ends of a first policy lay outside, and then two of four (2026-11-26)."""
WIDER = 1.0
"""Times the range of the rewards at ends before, by which others may lie beside it: what is paid for an end says what
it was, and a goal is paid otherwise than a fall. Engineering choice."""


class Ends:
    """Knows the range of every entry of observations [D] after which episodes went on, and which ends lie in it.

    Where what ends an episode is that a bound is passed, each end lies outside: by construction, whatever the policy.
    """

    def __init__(self, width: int) -> None:
        self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)
        """The least and the largest of each entry, but for ends."""
        self._new = 1.0
        self._longest = 0
        self._outside = self._inside = 0
        """Ends outside, and those inside but for the newest."""
        self._newest: deque[bool] = deque()
        self._paid = np.inf, -np.inf
        """The least and the largest reward at ends that lay outside."""

    def stretch(self, after: Floats) -> None:
        """Take observations [m, D] after which episodes went on, or were cut."""
        new = (after < self.low) | (after > self.high)
        share = 0.0
        if np.logical_or.reduce(new, axis=None):
            share = float(np.logical_or.reduce(new, axis=1).mean())
            self.low, self.high = np.fmin(self.low, np.fmin.reduce(after)), np.fmax(self.high, np.fmax.reduce(after))
        self._new = MEMORY * self._new + (1 - MEMORY) * share

    def lasted(self, steps: int) -> None:
        """Take the length so far of an episode that goes on or was cut."""
        self._longest = max(self._longest, steps)

    def ended(self, last: Floats, reward: float, steps: int) -> float | None:
        """Take an end: its last observation [D], what was paid for it, and how long the episode was.

        Return the share of the newest ends that lie where episodes went on before, where all others never did; None
        where that is not known.
        """
        if self._inside:
            return None
        longest, self._longest = self._longest, max(self._longest, steps)
        outside = bool((last < self.low).any() or (last > self.high).any())
        if self._new > NEW or not np.isfinite(last).all():
            return None
        low, high = self._paid
        if outside:
            self._outside += 1
            self._paid = min(low, reward), max(high, reward)
        beside = WIDER * (high - low)
        like = low - beside <= reward <= high + beside
        # What ends the longest episode ever may be a limit that passes for an end.
        self._newest.append(not outside and like and steps < longest)
        if not outside and not self._newest[-1]:
            self._inside += 1  # an end of another kind: some lie inside
        while len(self._newest) > NEWEST:
            self._inside += self._newest.popleft()
        return self.share

    @property
    def share(self) -> float | None:
        """Share of the newest ends that lie where episodes went on; None where it is not known that no other does."""
        return None if self._inside or self._outside < KNOWN else sum(self._newest) / NEWEST
