"""Whether what a policy is shown is on the scale of the row before, asked while a rollout goes on.

Rows of trainers that collect rollouts lie hundreds of steps apart: what is divided once more in the middle of one is
lost before the next row, which then is of two scales at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .transitions import MOST_ENTRIES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .exchanged import Exchanged
    from .handed_on import HandedOn

FIT, SHIFT = "data/obs_fit", "data/obs_shift"
EVERY = 64
"""Steps of all copies from one look to the next. Engineering choice: fewer hardly vary."""
FAR, TIMES, FITS = 0.2, 4.0, 0.9
"""What is told at once: a shift of so many standard deviations, so many times the largest so far, of observations that
still follow. Half of what the rule asks for, which decides."""
AT_ONCE = 2
"""Looks that are told from one row of the trainer to the next."""


class Glimpses:
    """Holds what was shown since the last look, and compares it with what the world saw by the map of the last row."""

    def __init__(self, handed: HandedOn) -> None:
        self._handed = handed
        self._shown: list[NDArray[Any]] = []
        self._steps = self._since = self._told = 0
        self._largest: float | None = None

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
