"""Series of metrics that a framework logs only in parts, each under a key of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np

from ..series import Curve, Floats, Scope, Series
from ..vocabulary import Derived, framework


def derived_series(curves: Mapping[str, Curve], name: str, rank: str, present: frozenset[str]) -> list[Series]:
    """Return what the framework `name` logs in parts among `curves`, but for metrics that are `present` as they are."""
    if not name or not framework(name).derived:
        return []
    known = framework(name)
    by_name = {spelling: curve for key, curve in curves.items() for spelling in known.spellings(key)}
    found: dict[str, Series] = {}
    for entry in known.derived:
        if entry.metric in present or entry.metric in found or any(key not in by_name for key in entry.keys):
            continue
        curve = _made(entry, by_name)
        if len(curve):
            scope = Scope(rank=rank)
            found[entry.metric] = Series(entry.metric, curve, scope, source_key=entry.formula, note=entry.note)
    return list(found.values())


def parts(keys: Iterable[str], name: str, present: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return, for each of `keys` that `derived_series` would use, the metrics that it helps to make."""
    if not name or not framework(name).derived:
        return {}
    known = framework(name)
    by_name = {spelling: key for key in keys for spelling in known.spellings(key)}
    found: dict[str, frozenset[str]] = {}
    for entry in known.derived:
        if entry.metric not in present and all(part in by_name for part in entry.keys):
            for key in {by_name[part] for part in entry.keys}:
                found[key] = found.get(key, frozenset()) | {entry.metric}
    return found


def _made(entry: Derived, curves: Mapping[str, Curve]) -> Curve:
    """Return the metric at the steps that all its parts share; where it would divide by 0 there is no point."""
    step = reduce(np.intersect1d, [curves[key].step for key in entry.keys])

    def at(key: str) -> Floats:
        return curves[key].value[np.searchsorted(curves[key].step, step)]

    value = at(entry.of) - sum(at(key) for key in entry.less)
    if entry.over:
        below = np.asarray(sum(at(key) for key in entry.over), dtype=np.float64)
        step, value, below = step[below != 0], value[below != 0], below[below != 0]
        value = value / below
    return Curve(step, value)
