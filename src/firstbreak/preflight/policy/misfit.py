"""How an action misses a space of several parts or choices, in words."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

SLACK = 1e-5
"""Share of a range that rounding to float32 explains."""


def misfit(space: Any, action: Any, where: str = "action") -> str:
    """Return how `action` misses `space`, part by part; empty where it fits, or where the space is not known."""
    parts = getattr(space, "spaces", None)
    if isinstance(parts, dict):
        return _of_mapping(cast("dict[str, Any]", parts), action, where)
    if isinstance(parts, tuple):
        return _of_tuple(cast("tuple[Any, ...]", parts), action, where)
    bounds = _bounds(space)
    if bounds is None:
        return ""
    low, high, whole = bounds
    array = np.asarray(action)
    if array.dtype.kind not in "biuf":
        return f"{where} is {type(action).__name__}, not numbers"
    if array.shape != low.shape:
        return f"{where} has shape {array.shape}, expected {low.shape}"
    values = array.astype(float)
    if not np.isfinite(values).all():
        return f"{where} is not finite"
    if whole and array.dtype.kind == "f":
        return f"{where} is {array.dtype}, whole numbers are expected"
    room = 0.0 if whole else SLACK * np.where(np.isfinite(high - low), high - low, 1.0)
    out = np.flatnonzero((values < low - room) | (values > high + room))
    if not out.size:
        return ""
    value, least, most = (float(np.ravel(a)[out[0]]) for a in (values, low, high))
    place = where if array.ndim == 0 else f"{where}[{out[0]}]"
    return f"{place} is {value:.4g}, outside [{least:.4g}, {most:.4g}]"


def _of_mapping(parts: dict[str, Any], action: Any, where: str) -> str:
    if not isinstance(action, dict):
        return f"{where} is {type(action).__name__}, expected a dict of {', '.join(map(str, parts))}"
    given = cast("dict[str, Any]", action)
    for key, part in parts.items():
        if key not in given:
            return f"{where} lacks {key!r}"
        if words := misfit(part, given[key], f"{where}[{key!r}]"):
            return words
    return ""


def _of_tuple(parts: tuple[Any, ...], action: Any, where: str) -> str:
    given = list(cast("list[Any]", action)) if isinstance(action, (tuple, list)) else None
    if given is None or len(given) != len(parts):
        count = "no tuple" if given is None else f"{len(given)} parts"
        return f"{where} is {count}, expected a tuple of {len(parts)} parts"
    found = (misfit(part, a, f"{where}[{i}]") for i, (part, a) in enumerate(zip(parts, given, strict=True)))
    return next(filter(None, found), "")


def _bounds(space: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], bool] | None:
    """Lowest and highest value of each entry, and whether entries are whole; None for another kind of space."""
    if hasattr(space, "low") and hasattr(space, "high"):
        return np.asarray(space.low, float), np.asarray(space.high, float), np.dtype(space.dtype).kind in "iu"
    if hasattr(space, "nvec"):
        low = np.broadcast_to(np.asarray(getattr(space, "start", 0), float), np.shape(space.nvec))
        return low, low + np.asarray(space.nvec, float) - 1, True
    if hasattr(space, "n"):
        shape = tuple(getattr(space, "shape", ()) or ())
        low = np.full(shape, float(getattr(space, "start", 0)))
        return low, low + (1 if shape else int(space.n) - 1), True
    return None
