"""From which score on a response counts as passed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from .probing import Probe


def passes(entry: Sequence[Any], mark: float) -> bool:
    """Whether [value, how, ...] is a score at or above `mark`."""
    return entry[1] == "ok" and entry[0] >= mark


def mark_of(asked: Sequence[tuple[Probe, Sequence[Any]]], given: float | None = None) -> float:
    """Return the pass mark: as given, or halfway between nonsense and right answers, each in the frame it fares best
    (right) or worst (nonsense) in by its median; where right answers score no higher, the middle of the scale seen.
    """
    if given is not None:
        return given
    medians = {right: _medians([(p, e) for p, e in asked if p.right is right]) for right in (True, False)}
    high, low = max(medians[True], default=None), min(medians[False], default=None)
    if high is not None and low is not None and high > low:
        return (high + low) / 2
    if high is not None and low is None:
        return high - 1e-9 if high > 0 else 0.5
    return 0.0 if any(score < 0 for score in (*medians[True], *medians[False])) else 0.5


def _medians(asked: Sequence[tuple[Probe, Sequence[Any]]]) -> list[float]:
    """Return the median score of each form that got one."""
    scores: dict[str, list[float]] = {}
    for probe, entry in asked:
        if entry[1] == "ok":
            scores.setdefault(probe.form, []).append(float(entry[0]))
    return [statistics.median(each) for each in scores.values()]
