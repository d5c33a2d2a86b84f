"""Steps that cannot be meant: those that stand still or go back again and again. Said once, as they blind the rules."""

from __future__ import annotations

from typing import Any

from .rows import one_number

STOOD, SEVERAL = 64, 4
"""Rows on end of at least so many keys at one step before that is said. Rows of fewer may be single episodes that end
together. Engineering choice."""
WENT_BACK = 8
"""Times that the steps of one kind of rows go back before that is said: a run may be resumed. Engineering choice."""
MOST_LAYOUTS = 64
"""Kinds of rows whose last step is kept. Engineering choice."""


class Positions:
    """Hears the step of every row that was given one."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, ...], float] = {}
        self._stood = self._back = 0

    def hear(self, keys: tuple[str, ...], step: float) -> str:
        """Take a row of `keys` at `step`; return what is to be said of it, `""` for nothing."""
        last = self._last.get(keys)
        if last is None and len(self._last) >= MOST_LAYOUTS:
            self._last.clear()
        self._last[keys] = step
        if last is None or last < step:
            self._stood = 0
            return ""
        if last == step:
            self._stood += len(keys) >= SEVERAL
            return _STANDS if self._stood == STOOD else ""
        self._back += 1
        return _GOES_BACK if self._back == WENT_BACK else ""

    def anew(self) -> None:
        """Training was put back: lower steps are meant."""
        self._last.clear()


_STANDS = (
    f"{STOOD} rows on end have the same step: of rows at one step only the last counts; "
    "give step= what grows from row to row, or leave it out to count rows"
)
_GOES_BACK = (
    f"steps went back {WENT_BACK} times: each time what was logged from there on is forgotten, as after a resume; "
    "give step= what grows over the whole run, not a count that begins anew with every epoch"
)


def place_of(step: Any) -> float:
    """Return `step` as a number, NaN where it is none."""
    try:
        return float(step)
    except (TypeError, ValueError, OverflowError):
        found = one_number(step)
        return float("nan") if found is None else found
