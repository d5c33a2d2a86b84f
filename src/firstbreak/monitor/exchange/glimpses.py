"""Whether what a policy is shown still follows from what the world gave, and is on the scale of the row before, asked
while a rollout goes on.

Rows of trainers that collect rollouts lie hundreds of steps apart: what is divided once more, mixed up or replaced in
the middle of one is lost before the next row, which then is of two kinds at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .transitions import MOST_ENTRIES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .exchanged import Exchanged
    from .handed_on import HandedOn
    from .transitions import Floats

FIT, SHIFT = "data/obs_fit", "data/obs_shift"
EVERY = 64
"""Steps of all copies from one look to the next. Engineering choice: fewer hardly vary."""
FAR, TIMES, FITS = 0.2, 4.0, 0.9
"""What is told at once: a shift of so many standard deviations, so many times the largest so far, of observations that
still follow. Half of what the rule asks for, which decides."""
LOST, HELD = 0.5, 8
"""What is told at once, too: observations that follow no further than so far, after so many looks at which they did.
What the rule asks for where it takes one row for enough, and the rows it asks for before."""
AT_ONCE = 2
"""Looks that are told from one row of the trainer to the next."""


class Glimpses:
    """Holds what was shown since the last look, and compares it with what the world saw by the map of the last row."""

    def __init__(self, handed: HandedOn) -> None:
        self._handed = handed
        self._shown: list[NDArray[Any]] = []
        self._steps = self._since = self._told = 0
        self._largest: float | None = None
        self._held = 0
        """Looks at which observations followed, up to now or to the look before the last."""
        self._doubted = False
        """Whether they did not at the last look."""

    def show(self, obs: NDArray[Any], exchanged: Exchanged | None, *, taken: bool = False) -> None:
        """Take what the policy is shown at one step [N, D].

        Args:
            obs: Is copied, as trainers write into it.
            exchanged: What the world saw.
            taken: Whether it saw this step already.
        """
        if exchanged is None or obs.ndim < 2 or obs[0].size > MOST_ENTRIES:
            return
        if not self._shown:
            self._steps, self._since = 0, exchanged.count - (len(obs) if taken else 0)
        self._shown.append(obs.copy())
        self._steps += len(obs)

    def look(self, exchanged: Exchanged | None) -> dict[str, float]:
        """Compare where it is time, all that was shown being taken; return what is to be told at once."""
        if exchanged is None or self._steps < EVERY:
            return {}
        shown, steps, self._shown, self._steps = self._shown, self._steps, [], 0
        taken = exchanged.observations(steps) if exchanged.count - self._since == steps else None
        if taken is None:
            return {}
        found = np.concatenate(shown).reshape(steps, -1).astype(np.float64)
        fit, shift = self._handed.apart(taken, found)
        if fit is None or shift is None:
            return {}
        return self._lost(fit, taken, found) or self._rescaled(fit, shift)

    def _lost(self, fit: float, taken: Floats, found: Floats) -> dict[str, float]:
        """Return what to tell where `found` [n, D] no longer follows from what was `taken` [n, D]."""
        surely: float | None = None
        if fit <= LOST and self._held >= HELD and self._told < AT_ONCE:
            surely = self._handed.glance(taken, found)  # a cut-off, or a normaliser that moves on, is no loss
            if surely is not None and surely <= LOST:
                self._told += 1
                return {FIT: surely}
        follows = fit >= FITS
        # The look in which it begins is of both kinds; what is lost for good keeps its past.
        if follows or (self._doubted and (fit > LOST or surely is not None)):
            self._held = self._held + 1 if follows else 0
        self._doubted = not follows
        return {}

    def _rescaled(self, fit: float, shift: float) -> dict[str, float]:
        """Return what to tell where what follows is on another scale."""
        usual = self._largest
        if usual is not None and shift >= max(FAR, TIMES * usual):
            if fit < FITS or self._told >= AT_ONCE:
                return {}
            self._told += 1
            return {FIT: fit, SHIFT: shift}
        self._largest = shift if usual is None else max(usual, shift)
        return {}

    def row(self) -> None:
        """Begin anew with a row of the trainer."""
        self._told = 0
