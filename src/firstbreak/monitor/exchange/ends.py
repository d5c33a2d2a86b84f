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
MANY, FEWER = 48, 3
"""Of so many ends that all lay outside the newest three tell as much as four of `KNOWN` do: by the rule of succession
(Laplace 1774) the next three lie inside by a chance of 1 in 20,000, and the next four after 16 of 1 in 4,800."""
EARLY = 64
"""Ends that are kept until it is known where episodes go on. A first policy has most of them."""
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
        self._moving = np.zeros(width, dtype=np.bool_)
        """Which entries ever moved within an episode. What an episode keeps (a goal) passes no bound."""
        self._new = 1.0
        self._longest = 0
        self._outside = self._inside = 0
        """Ends outside, and those inside but for the newest."""
        self._newest: deque[bool] = deque()
        self._early: deque[tuple[Floats, float]] = deque(maxlen=EARLY)
        """Last observation [D] and reward of ends of which it could not be said yet where they lie."""
        self._paid = np.inf, -np.inf
        """The least and the largest reward at ends that lay outside."""

    def moved(self, before: Floats, after: Floats) -> None:
        """Take observations before and after some steps [m, D]."""
        if not self._moving.all():
            self._moving |= np.logical_or.reduce(before != after)

    def stretch(self, after: Floats) -> None:
        """Take observations [m, D] after which episodes went on, or were cut."""
        new = (after < self.low) | (after > self.high)
        share = 0.0
        if np.logical_or.reduce(new, axis=None):
            share = float(np.logical_or.reduce(new & self._moving, axis=1).mean())
            self.low, self.high = np.fmin(self.low, np.fmin.reduce(after)), np.fmax(self.high, np.fmax.reduce(after))
        self._new = MEMORY * self._new + (1 - MEMORY) * share
        while self._early and self._new <= NEW:
            last, reward = self._early.popleft()
            self._count(reward, outside=self._lies_outside(last))

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
        if not np.isfinite(last).all():
            return None
        if self._new > NEW:
            self._early.append((last, reward))
            return None
        outside = self._lies_outside(last)
        low, high = self._paid
        beside = WIDER * (high - low)
        like = low - beside <= reward <= high + beside
        # What ends the longest episode ever may be a limit that passes for an end.
        self._newest.append(not outside and like and steps < longest)
        if outside or not self._newest[-1]:
            self._count(reward, outside=outside)
        while len(self._newest) > self._window:
            self._inside += self._newest.popleft()
        return self.share

    def _lies_outside(self, last: Floats) -> bool:
        return bool((((last < self.low) | (last > self.high)) & self._moving).any())

    def _count(self, reward: float, *, outside: bool) -> None:
        """Count an end; one inside that is no news says that ends of another kind lie there."""
        if outside:
            self._outside += 1
            low, high = self._paid
            self._paid = min(low, reward), max(high, reward)
        else:
            self._inside += 1

    @property
    def _window(self) -> int:
        return FEWER if self._outside >= MANY else NEWEST

    @property
    def share(self) -> float | None:
        """Share of the newest ends that lie where episodes went on; None where it is not known that no other does."""
        return None if self._inside or self._outside < KNOWN else sum(self._newest) / self._window
