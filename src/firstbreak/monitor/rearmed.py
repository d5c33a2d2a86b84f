"""Rules that left out an update, asked about the run without it: so that the next such update is left out, too.

Most rules say that something happened, and go on saying so of every longer prefix. An action is for the update at hand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..finding import Finding
from ..rule import Rule
from ..runlog import RunLog
from ..series import Curve, Series
from .judge import Judge, Seen

MOST_STRETCHES = 256
"""Stretches that are kept apart for one rule; of more the two oldest become one. Engineering choice."""


@dataclass
class Outside:
    """What one rule is not shown: stretches [lo, hi] of steps, oldest first, and whether it was calm since the last."""

    stretches: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    calm: bool = False


class Rearmed:
    """Asks `rules` again once they were acted on. What goes on after an action is left out of sight until it is over.

    Args:
        rules: All that may come to act.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = {rule.name: rule for rule in rules}
        self._judge = Judge(rules)
        self._outside: dict[str, Outside] = {}

    def acted(self, finding: Finding, log: RunLog, at: float) -> None:
        """Note that `finding`, seen in `log` at the row at `at`, had an update left out."""
        _extend(self._outside.setdefault(finding.name, Outside()), newest(log, finding, at))

    def look(self, log: RunLog, version: int, at: float) -> list[Seen]:
        """Return what fires anew at the row at `at`, in the run without what was acted on."""
        seen: list[Seen] = []
        for name, outside in self._outside.items():
            found = self._judge.look(without(log, outside.stretches), version, [self._rules[name]])
            if not found:
                outside.calm = True
            elif outside.calm:
                seen += found
            else:
                lo, hi = outside.stretches[-1]
                outside.stretches[-1] = lo, max(hi, *(newest(log, one.finding, at) for one in found))
        return seen

    def forget(self) -> None:
        """Begin anew after a roll-back."""
        self.__init__(list(self._rules.values()))


def newest(log: RunLog, finding: Finding, at: float) -> float:
    """Return where the newest point lies of what `finding` tells of, at the row at `at`.

    That is before `at` where the framework logs a metric one row late, or where this row does not hold it.
    """
    places = [
        float(one.step[-1])
        for one in log.series
        if one.metric == finding.metric and one.scope == finding.scope and len(one)
    ]
    return min(at, max(places, default=at))


def without(log: RunLog, stretches: Collection[tuple[float, float]]) -> RunLog:
    """Return `log` without the points in `stretches`; exact counts of all points go with them."""
    return replace(log, series=tuple(left for one in log.series if len(left := _left(one, stretches))))


def _left(series: Series, stretches: Collection[tuple[float, float]]) -> Series:
    step = series.step
    keep = np.ones(step.size, dtype=bool)
    for lo, hi in stretches:
        keep &= (step < lo) | (step > hi)
    if keep.all():
        return series
    wall = None if series.wall is None else series.wall[keep]
    return replace(series, curve=Curve(step[keep], series.value[keep], wall), whole=None)


def _extend(outside: Outside, at: float) -> None:
    outside.stretches.append((at, at))
    outside.calm = False
    if len(outside.stretches) > MOST_STRETCHES:
        (lo, _), (_, hi), *rest = outside.stretches
        outside.stretches = [(lo, hi), *rest]
