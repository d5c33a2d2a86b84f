"""When the rules look: at the ticks of the post-mortem, where something new happened, and when time allows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from ..engine import FIRST_TICKS, TICK_RATIO

FOLLOW_UP = (0, 1, 2, 3, 4)
"""Which values of a key, from the one that was new in kind on, the rules concerned look at: many ask that it lasts, and
some keys come every few rows. Engineering choice."""
LASTED = 2
"""Which of them rules wait for that ask of a row whether it lasts: three values are what `firstbreak.at_once` takes."""
FULL_SHARE = 0.5
"""Part of the share of time that looks at everything may take; as much as the share itself goes to what is new."""
FREE_LOOKS, LOOKS_A_ROW = 16, 0.05
"""Looks out of turn that are allowed whatever they cost, and the share of rows on which more are."""
TIME_SHARE = 0.004
"""Share of wall time for looks at what is new in kind, and half of it besides for looks at all between the ticks:
together less than the budget of docs/design.md, section 10."""


class Schedule:
    """Says at each row whether all rules look, some, or none.

    Args:
        share: Share of the run's wall time for looks at what is new in kind; half of it besides for looks at
            everything between the post-mortem's ticks.
        timer: Seconds, monotone; replaced in tests.
    """

    def __init__(self, share: float, timer: Callable[[], float]) -> None:
        self.share = share
        self._timer = timer
        self._start = timer()
        self._spent = self._cost = 0.0
        self._spent_partly = self._cost_partly = 0.0
        self._due = 1
        self._out_of_turn = 0
        self.lasted = False
        """Whether what is looked at in this row was new in kind `LASTED` values ago."""
        self._slow: set[str] = set()
        """Keys that have drifted, in the row that is looked at next."""
        self._follow: dict[str, int] = {}
        """Key -> values that came since it was new in kind."""
        self._known: set[str] = set()
        self._first: set[str] = set()
        """Keys that are followed for the first time, or lie far outside all before: always affordable, as there are
        only so many keys, and ranges that grow ninefold."""

    def full(self, row: int) -> bool:
        """Whether all rules look after `row` rows (counted from 1)."""
        if row >= self._due:
            while self._due <= row:
                self._due = self._due + 1 if self._due < FIRST_TICKS else int(np.ceil(self._due * TICK_RATIO))
            return True
        return self._spent + self._cost <= FULL_SHARE * self.share * (self._timer() - self._start)

    def attend(self, keys: list[str], gross: Collection[str] = ()) -> None:
        """Something new happened to `keys`: look at it now and a few times more, at `gross` whatever it costs.

        What goes on within the values that show whether it lasts is no other news.
        """
        self._follow.update({key: -1 for key in keys if self._follow.get(key, LASTED) >= LASTED})
        self._first.update(key for key in keys if key in gross or key not in self._known)
        self._known.update(keys)

    def heed(self, keys: Sequence[str]) -> None:
        """Something slow happened to `keys`: look at it once, if there is time; it is no news to be followed."""
        self._slow.update(keys)

    def partly(self, row: int, logged: Collection[str]) -> set[str]:
        """Return which of the keys `logged` in this row, the `row`th, have rules that look out of turn."""
        self.lasted = False
        if not self._follow and not self._slow:
            return set()
        keys, slow, lasted = set[str](), self._slow, False
        self._slow = set()
        for key in [key for key in self._follow if key in logged]:
            self._follow[key] += 1
            lasted |= self._follow[key] == LASTED
            if self._follow[key] in FOLLOW_UP:
                keys.add(key)
            if self._follow[key] >= FOLLOW_UP[-1]:
                del self._follow[key]
        first = any(key in self._first for key in keys)
        self._first -= {key for key in self._first if key not in self._follow}
        in_time = self._spent_partly + self._cost_partly <= self.share * (self._timer() - self._start)
        if keys and (first or in_time or self._out_of_turn < FREE_LOOKS + LOOKS_A_ROW * row):
            self._out_of_turn += 1
            self.lasted = lasted
            return keys | slow
        return slow if in_time else set()

    def looked(self, seconds: float, *, full: bool) -> None:
        """Note what a look cost."""
        if full:
            self._spent += seconds
            self._cost = seconds if not self._cost else 0.5 * (self._cost + seconds)
        else:
            self._spent_partly += seconds
            self._cost_partly = seconds if not self._cost_partly else 0.5 * (self._cost_partly + seconds)
