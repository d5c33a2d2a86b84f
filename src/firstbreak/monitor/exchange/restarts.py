"""Whether an environment begins anew in mid-episode and does not say so."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .transitions import Floats

METRIC = "env/restart_frac"
FIRSTS = 8
"""First observations that must be known. Engineering choice."""
BESIDE = 0.25
"""Of the range of those that are known, how far beside it another first observation may lie. Engineering choice."""
FAR = 4.0
"""Times the largest error of late with which an entry is foreseen, from which on it was not what the environment did.
Engineering choice: errors of rows differ by a factor of two, those of the steps of one by as much again."""
LEAST = 0.1
"""Of the range of first observations, what counts as a jump at least; two of them drawn at random lie a third of it
apart. Where all is foreseen but a step into a wall, one such step is missed by 0.04 of it (DQN on a grid, 2026-11-26).
Engineering choice."""
FADES = 0.9
"""What of that error stays with every row: a young model errs by as much as a restart. Engineering choice."""
CLEAR = 128
"""Steps after a restart in which no row counts for that error: as many as two rows of a world cover."""
ROWS = 8
"""Rows whose errors must be known."""
WINDOW = 32
"""Newest steps that are told of."""
AT_ONCE = 2 / WINDOW
"""Share of them that must be restarts to be told at once. Engineering choice: one may be a hit or a goal."""
MOST_OFF = 0.5
"""Share of the other steps of a stretch that may have been missed as far: more, and it is another world altogether.
Engineering choice."""
SELDOM = 500
"""One step in so many may have looked like it before: a world that sets back whoever fails does so from the start."""

Missed = Callable[[], Floats | None]
"""By how much the next observations of a stretch were missed [m, D]; None where nothing was foreseen."""


class Restarts:
    """Knows where episodes begin, how well the world is foreseen, and which steps end where none of it leads."""

    def __init__(self, width: int) -> None:
        self._firsts = 0
        self._low, self._high = np.full(width, np.inf), np.full(width, -np.inf)
        self._error: Floats | None = None
        """The largest error of late with which each entry was foreseen [D]."""
        self._jump: Floats = np.full(width, np.inf)
        """Change of an entry, and error of what was foreseen of it, from which on it is a jump [D]."""
        self._rows = 0
        self._steps = self._seen = 0
        """Steps, and restarts before the newest steps."""
        self._newest: deque[int] = deque()
        """Which of the newest steps are restarts."""
        self._odd = -CLEAR
        """The last restart, as a number of steps."""
        self._least, self._most = np.inf, -np.inf
        """Rewards of other steps."""

    def begun(self, obs: Floats) -> None:
        """Take the first observation [D] of an episode."""
        if np.isfinite(obs).all():
            self._firsts += 1
            self._low, self._high = np.minimum(self._low, obs), np.maximum(self._high, obs)

    def row(self, missed: Floats) -> None:
        """Take the mean squared error [D] with which the observations of a row were foreseen.

        One that holds restarts says nothing of how well the world is foreseen.
        """
        error = np.sqrt(missed)
        if self._steps - self._odd >= CLEAR and np.isfinite(error).all():
            self._rows += 1
            self._error = error if self._error is None else np.maximum(FADES * self._error, error)
            if self._firsts:
                self._jump = np.maximum(FAR * self._error, LEAST * (self._high - self._low))

    def stretch(
        self, before: Floats, after: Floats, rewards: list[float], goes_on: NDArray[np.bool_] | None, missed: Missed
    ) -> float:
        """Take a stretch of steps; return the share of restarts among the newest, 0 where they are no news.

        Args:
            before: Observations before them [m, D].
            after: Observations after them [m, D].
            rewards: [m].
            goes_on: Steps that end no episode [m]; None for all.
            missed: Asked only where steps lead to where episodes begin.
        """
        found = self._found(before, after, rewards, goes_on, missed)
        self._newest.extend(self._steps + place for place in found)
        self._odd = self._steps + found[-1] if found else self._odd
        self._steps += len(after)
        others = rewards if not found else [one for place, one in enumerate(rewards) if place not in found]
        if others:
            self._least, self._most = min(self._least, *others), max(self._most, *others)
        while self._newest and self._newest[0] < self._steps - WINDOW:
            self._newest.popleft()
            self._seen += 1
        earlier = self._steps - WINDOW
        known = earlier >= SELDOM and self._seen * SELDOM <= earlier
        return len(self._newest) / WINDOW if known else 0.0

    def _found(
        self, before: Floats, after: Floats, rewards: list[float], goes_on: NDArray[np.bool_] | None, missed: Missed
    ) -> list[int]:
        """Return which steps are restarts: half of the entries or more went where nothing that is known leads.

        Most steps are told apart by how far they go at all, which costs less than what was foreseen of them.
        """
        if self._firsts < FIRSTS or self._rows < ROWS:
            return []
        jumps = np.abs(after - before) > self._jump
        where = 2 * np.add.reduce(jumps, axis=1) >= before.shape[1]
        if goes_on is not None:
            where &= goes_on
        if not np.logical_or.reduce(where):
            return []
        beside = BESIDE * (self._high - self._low)
        there = (after >= self._low - beside) & (after <= self._high + beside)
        where &= np.logical_and.reduce(there, axis=1)
        off = missed() if np.logical_or.reduce(where) else None
        if off is None:
            return []
        far = np.abs(off) > self._jump
        others = (2 * np.add.reduce(far, axis=1) >= before.shape[1]) & ~where
        where &= 2 * np.add.reduce(jumps & far, axis=1) >= before.shape[1]
        if np.count_nonzero(others) > MOST_OFF * max(1, len(after) - np.count_nonzero(where)):
            return []
        return [place for place in np.flatnonzero(where).tolist() if self._least <= rewards[place] <= self._most]
