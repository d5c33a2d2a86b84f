"""When a row of the world should not wait: steps that miss what was learned further than any stretch before."""

from __future__ import annotations

import math

from .predictor import LEAST_UNEXPLAINED

STRETCH = 16
"""Steps that are asked about together. Engineering choice: fewer are one contact or one reset; a call costs three times
as much as one step of the world."""
KEPT = 8
"""The newest of a stretch that is off are told: where its median is off, these all are."""
COVERS = 16
"""Steps of an early row."""
ROWS = 2
"""Early rows on end: a rule that asks for two rows has them within 48 steps. No more, as rules count rows to tell a
change from a policy that passes through states it never met, which takes a hundred steps."""
YOUNG = 16
"""Full rows that must have been foreseen before, as for the rules: the errors of a model that still learns say
nothing."""
REST = 4
"""Full rows between the end of early rows and the next ones, so that costs stay flat."""
TIMES = 2.0
"""Times the largest error of all stretches before that a stretch must reach."""
LEAST_LOG = 0.2
"""Logarithm of the gain of actions, either way, that counts as usual: a few steps leave it so uncertain."""
LEAST_GAIN = 0.01
"""Gains below it, and negative ones, count as this: logarithms are compared."""
FADES = 0.999
"""What of that error stays with every stretch: half after some 11,000 steps, as models grow better."""

LEAST = (LEAST_UNEXPLAINED, LEAST_UNEXPLAINED, LEAST_LOG)


class Early:
    """Asks every `STRETCH` steps whether these follow from what was learned as ever; one vectorised call each.

    The error of a step is the root mean square over entries, in units of their spread so far; that of a stretch is the
    median over its steps, so that a contact or a reset does not count. It is no statistic of a row: rules decide on
    the row, as always.
    """

    def __init__(self) -> None:
        self.rows = 0
        """Early rows that are still to come."""
        self.asked = 0
        """Stretches that were asked about."""
        self._foreseen = 0
        self._rested = REST
        self._most = list(LEAST)

    @property
    def lately(self) -> bool:
        """Whether early rows are to come, or none that is full came since the last."""
        return self.rows > 0 or not self._rested

    def row(self) -> None:
        """Count an early row."""
        self.rows = max(0, self.rows - 1)

    def full_row(self, *, foreseen: bool) -> None:
        """Count a full row; `foreseen` says whether models had learned enough to tell anything of it."""
        self.rows = 0
        self._rested += 1
        self._foreseen += foreseen

    def off(
        self, moved: tuple[float, float] | None, paid: tuple[float, float] | None, *, misread: bool = False
    ) -> bool:
        """Say whether a stretch is further off than any before, so that rows are due.

        Args:
            moved: Its error by the model of dynamics and the gain of actions in it (`Predictor.asked`); None where
                nothing can be said.
            paid: The same of rewards; it has no gain.
            misread: Whether the stretch follows from another reading of its actions, which is news at any age.
        """
        self.asked += 1
        if moved is None or paid is None or not math.isfinite(moved[0] + moved[1] + paid[0]):
            return False  # full rows tell of what is not finite
        now = moved[0], paid[0], abs(math.log(max(moved[1], LEAST_GAIN)))
        known = self._foreseen >= YOUNG and self._rested >= REST and not self.rows
        found = known and any(one > TIMES * most for one, most in zip(now, self._most, strict=True))
        self._most = [max(FADES * most, one, least) for most, one, least in zip(self._most, now, LEAST, strict=True)]
        found |= misread and self._rested >= REST and not self.rows
        if found:
            self.rows, self._rested = ROWS, 0
        return found
