"""A setting in force that stood at one value and was then set anew: all there is to a rule about one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from .finding import Detection
from .view import Points, RunView


class Moves(Protocol):
    """What such a rule's thresholds hold."""

    @property
    def times(self) -> float:
        """Factor, up or down, by which it moves."""
        ...

    @property
    def rest(self) -> int:
        """Rows before that had one and the same value."""
        ...

    @property
    def lasts(self) -> int:
        """Rows on end that lie so far from it."""
        ...


def setting_moved(view: RunView, settings: Mapping[str, str], params: Moves) -> Detection | None:
    """Return the first of some settings that was set anew, None where none was.

    Args:
        view: The run.
        settings: Canonical name -> what it is, in words.
        params: Factor and rows.
    """
    for name, words in settings.items():
        points = view.get(name)
        place = None if points is None else moved(points, params)
        if points is None or place is None:
            continue
        before, now = float(points.value[place - 1]), float(points.value[place])
        return Detection(
            message=f"{words} went from {before:.5g} to {now:.5g} while the run went on",
            onset=view.onset(float(points.step[place - 1]), float(points.step[place])),
            metric=name,
            evidence={"before": before, "now": now},
        )
    return None


def moved(points: Points, params: Moves) -> int | None:
    """Return the first row that lies far from a value at which the setting had stood."""
    value = points.value
    for place in np.flatnonzero(np.diff(value)) + 1:
        usual, now = value[max(0, place - params.rest) : place], value[place : place + params.lasts]
        if usual.size < params.rest or np.ptp(usual) != 0 or now.size < params.lasts:
            continue
        if all(far(float(usual[0]), float(one), params.times) for one in now):
            return int(place)
    return None


def far(usual: float, now: float, times: float) -> bool:
    """Whether two values are apart by a factor; what is switched off or on, or changes sign, is."""
    if usual * now <= 0:
        return usual != now
    ratio = now / usual
    return ratio >= times or ratio <= 1 / times
