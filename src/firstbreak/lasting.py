"""A metric past its limit for some rows on end: all there is to a rule about an identity, a share or a z-score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .finding import Detection
from .stats import median, persistent_onset
from .view import RunView


class Lasts(Protocol):
    """What such a rule's thresholds hold."""

    @property
    def limit(self) -> float:
        """The value, in the metric's unit, from which on a row counts."""
        ...

    @property
    def rows(self) -> int:
        """How many rows on end must count."""
        ...


def lasting(
    view: RunView, metric: str, params: Lasts, says: Callable[[float], str], *, either_sign: bool = False
) -> Detection | None:
    """Return what is found where `metric` reaches its limit and stays, None where it does not.

    Args:
        view: The run; it holds the metric.
        metric: A canonical name.
        params: Limit and rows.
        says: The message, given the median of the rows that count since the onset, in the metric's unit.
        either_sign: Whether values at or below the negative of the limit count as well.
    """
    points = view.get(metric)
    assert points is not None
    size = abs(points.value) if either_sign else points.value
    off = size >= params.limit
    onset = persistent_onset(points.step, off, params.rows)
    if onset is None:
        return None
    value = median(points.value[off & (points.step >= onset[1])])
    return Detection(
        message=says(value),
        onset=view.onset(*onset),
        metric=metric,
        evidence={"value": value, "limit": params.limit},
    )
