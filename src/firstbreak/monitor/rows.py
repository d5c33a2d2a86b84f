"""Reads the numbers out of what a training loop logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def read_row(metrics: Mapping[str, Any]) -> tuple[tuple[str, ...], list[float], list[str]]:
    """Return keys [k], values [k], and the keys whose value is not one number."""
    keys: list[str] = []
    values: list[float] = []
    left: list[str] = []
    for key, value in metrics.items():
        if isinstance(value, float):
            number: float | None = float(value)
        elif isinstance(value, int):
            number = float(value) if abs(value) < 1e308 else _huge(value)
        elif value is None:
            continue  # not logged this time
        else:
            number = one_number(value)
        if number is None:
            left.append(str(key))
        else:
            keys.append(key if type(key) is str else str(key))
            values.append(number)
    return tuple(keys), values, left


def one_number(value: Any) -> float | None:
    """Return `value` as a float where it is a scalar, or an array or tensor of one element; else None."""
    if isinstance(value, (str, bytes, dict, list, tuple, set, complex)):
        return None
    try:
        size = getattr(value, "size", 1)
        count = value.numel() if hasattr(value, "numel") else size() if callable(size) else size
        if count != 1:
            return None
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError, RuntimeError, AttributeError):
        return None


def _huge(value: int) -> float:
    return float("inf") if value > 0 else float("-inf")
