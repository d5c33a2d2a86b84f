"""Where the episodes of one copy of an environment are cut: always at one length, and now at a shorter one?"""

from __future__ import annotations

METRIC = "episode/limit_frac"
KNOWN = 4
"""Cuts at one and the same length, and at no other, that make it the limit. Engineering choice."""
LASTS = 3
"""Cuts before the limit on end, with no longer episode between them ..."""
ALIKE = 2
"""... of which the last so many come at one length: the first ends the episode in which the limit changed. Engineering
choices; an environment that also cuts for other reasons (out of bounds, nothing achieved for long) does so now and
then, and at lengths that differ."""


class Limit:
    """Counts the steps of one copy's episodes. Where cuts come at lengths that differ it says nothing, for good."""

    def __init__(self) -> None:
        self._steps = 0
        self._limit = self._cuts = 0
        self._varies = False
        self._short: list[int] = []
        """Lengths of the newest cuts, where they come before the limit."""

    def reset(self) -> None:
        """Begin an episode."""
        self._steps = 0

    def step(self, *, terminated: bool, truncated: bool) -> float | None:
        """Take one step; return at a cut, where the limit is known, the length at which episodes are cut over it: 1, or
        less where it is shorter now."""
        self._steps += 1
        if self._short and self._steps > max(self._short):
            self._varies = True  # an episode lasted longer: what cut the others is no limit
        if terminated or not truncated or self._varies:
            return None
        if self._steps < self._limit and self._cuts >= KNOWN:
            return self._cut_short()
        if self._steps != self._limit:
            # A first episode may begin in the middle, where a simulator staggers its copies.
            self._varies = self._cuts > 1
            self._limit, self._cuts = self._steps, 0
        self._cuts += 1
        return None if self._varies or self._cuts < KNOWN else 1.0

    def _cut_short(self) -> float | None:
        self._short.append(self._steps)
        last = self._short[-ALIKE:]
        return last[-1] / self._limit if len(self._short) >= LASTS and len(set(last)) == 1 else None


class Cuts:
    """What the copies of an environment say of their limits, from row to row."""

    def __init__(self) -> None:
        self.least: float | None = None
        """The least since the last `take`; None before the first."""
        self._told = 0

    @property
    def latest(self) -> dict[str, float]:
        """The least since the last `take`, as a row."""
        return {} if self.least is None else {METRIC: self.least}

    def add(self, share: float | None) -> bool:
        """Take what `Limit.step` said; return whether to tell of it at once: of two until a row."""
        if share is None or share >= 1:
            self.least = 1.0 if self.least is None else self.least
            return False
        self.least = share if self.least is None else min(self.least, share)
        self._told += 1
        return self._told <= ALIKE

    def take(self) -> dict[str, float]:
        """Return the least since the last call; 1 where nothing was cut before its limit, as far as that is known."""
        latest, self.least, self._told = self.latest, None, 0
        return latest
