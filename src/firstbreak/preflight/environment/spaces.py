"""Spaces by their attributes: flattening, names of columns, and what is wrong with a value. Needs no Gymnasium.

Box, Discrete, MultiDiscrete, MultiBinary, Dict and Tuple are understood; any other space counts as one opaque column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .shapes import is_array, is_mapping, is_tuple, is_whole
from .world import Array

ROUNDING = 1e-5
"""Share of the size of a bound by which a value may pass it: float32 rounds to 1e-7, and sums of it to 1e-6."""


@dataclass(frozen=True)
class Mismatch:
    """One way in which a value does not belong to its space."""

    kind: str
    """`type`, `shape`, `dtype` or `bounds`."""
    where: str
    """The part of the value: `observation.camera`, `observation[3]`."""
    message: str
    excess_frac: float = 0.0
    """By how much a bound is passed, as a share of the declared range (of the bound, where only one is declared)."""


def parts_of(space: Any, name: str) -> list[tuple[str, Any]]:
    """Return the leaves of a (nested) space with their names: `observation.camera`, `observation[0]`."""
    inner: Any = getattr(space, "spaces", None)
    if inner is None:
        return [(name, space)]
    pairs: list[tuple[str, Any]] = (
        [(f"{name}.{key}", inner[key]) for key in inner]
        if is_mapping(inner)
        else [(f"{name}[{i}]", one) for i, one in enumerate(inner)]
    )
    return [leaf for part, one in pairs for leaf in parts_of(one, part)]


def leaves_of(space: Any, value: Any) -> Iterator[Any]:
    """Yield the leaves of `value` in the order of `parts_of(space)`; what is missing comes as None."""
    inner: Any = getattr(space, "spaces", None)
    if inner is None:
        yield value
    elif is_mapping(inner):
        for key in inner:
            got: Any = value.get(key) if is_mapping(value) else None
            yield from leaves_of(inner[key], got)
    else:
        for i, one in enumerate(inner):
            got = value[i] if is_tuple(value) and i < len(value) else None
            yield from leaves_of(one, got)


def width_of(space: Any) -> int:
    """Return how many numbers a value of a leaf space holds."""
    shape: Any = getattr(space, "shape", None)
    return int(np.prod(np.array(shape, int))) if shape else 1


MOST_ONE_HOT = 1024


def choices_of(space: Any) -> list[tuple[int, int]] | None:
    """Return (start, number) of each choice of a discrete leaf, None for other leaves."""
    if hasattr(space, "nvec"):
        sizes: list[int] = np.ravel(space.nvec).tolist()
        start: Any = getattr(space, "start", None)
        starts: list[int] = [0] * len(sizes) if start is None else np.ravel(start).tolist()
        return list(zip(starts, sizes, strict=True))
    if hasattr(space, "n") and not getattr(space, "shape", ()):
        return [(int(getattr(space, "start", 0)), int(space.n))]
    return None


class Flattener:
    """Turns values of a space into vectors of D columns; what does not fit is cut or filled with zeros.

    With `one_hot`, choices become indicator columns, unless there are more than `MOST_ONE_HOT`: their numbers have no
    order.
    """

    def __init__(self, space: Any, name: str, most_columns: int = 0, *, one_hot: bool = False) -> None:
        self.space = space
        self.parts = parts_of(space, name)
        self.widths = [width_of(one) for _, one in self.parts]
        self.columns: list[int] | None = None
        choices = [choices_of(one) for _, one in self.parts]
        fits = sum(n for c in choices for _, n in c or ()) <= MOST_ONE_HOT
        self.choices = [c if one_hot and fits else None for c in choices]
        self.plain = not any(self.choices)
        names = [
            n
            for (part, one), w, c in zip(self.parts, self.widths, self.choices, strict=True)
            for n in ([f"{part}={i}" for a, k in c for i in range(a, a + k)] if c else _names(part, one, w))
        ]
        total = len(names)
        if most_columns and total > most_columns:  # an image: evenly spread pixels say enough, all would fill memory
            self.columns = [int(c) for c in np.linspace(0, total - 1, most_columns)]
            names = [names[c] for c in self.columns]
        self.names = tuple(names)

    def __call__(self, value: Any) -> Array:
        """Return `value` as a fresh vector [D]."""
        if self.plain and len(self.parts) == 1 and is_array(value) and value.size == self.widths[0]:
            row = _numbers(value)
        else:
            leaves = leaves_of(self.space, value)
            rows = [
                _fitted(leaf, w) if c is None else _indicators(_fitted(leaf, w), c)
                for leaf, w, c in zip(leaves, self.widths, self.choices, strict=True)
            ]
            row = np.concatenate(rows) if rows else np.zeros(0)
        return row if self.columns is None else row[self.columns]


def _names(part: str, space: Any, width: int) -> list[str]:
    return [f"{part}[{i}]" for i in range(width)] if getattr(space, "shape", None) else [part]


def _numbers(value: Any) -> Array:
    try:
        return np.array(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        return np.zeros(0)


def _indicators(row: Array, choices: Sequence[tuple[int, int]]) -> Array:
    return np.concatenate(
        [np.eye(n)[int(np.clip(v - a, 0, n - 1))] for v, (a, n) in zip(np.nan_to_num(row), choices, strict=True)]
    )


def _fitted(value: Any, width: int) -> Array:
    row = np.zeros(0) if value is None else _numbers(value)
    return row if len(row) == width else np.concatenate([row, np.zeros(width)])[:width]


class Judge:
    """Says how a value departs from a space; fast on values that do not."""

    def __init__(self, space: Any, name: str) -> None:
        self.space, self.name = space, name
        self.parts = parts_of(space, name)
        self.nested = getattr(space, "spaces", None) is not None
        self._bounds = [_slack(one) for _, one in self.parts]

    def __call__(self, value: Any) -> list[Mismatch]:
        """Return every departure; bounds are judged on finite entries only (NaN is another fault)."""
        found: list[Mismatch] = []
        if self.nested:
            structure = _structure(self.space, value, self.name)
            if structure:
                return structure
        values = leaves_of(self.space, value) if self.nested else (value,)
        for (name, one), bounds, leaf in zip(self.parts, self._bounds, values, strict=True):
            wrong = _judge(name, one, leaf, bounds)
            if wrong is not None:
                found.append(wrong)
        return found


def _structure(space: Any, value: Any, name: str) -> list[Mismatch]:
    inner: Any = getattr(space, "spaces", None)
    if inner is None:
        return []
    if is_mapping(inner):
        if not is_mapping(value):
            return [Mismatch("type", name, f"{_kind(value)}, expected a dict with {len(inner)} keys")]
        keys = {str(k) for k in value}
        if keys != {str(k) for k in inner}:
            odd = sorted(keys ^ {str(k) for k in inner})
            return [Mismatch("type", name, f"keys differ from the space in {len(odd)}: {', '.join(odd[:3])}")]
        return [m for key in inner for m in _structure(inner[key], value[key], f"{name}.{key}")]
    if not is_tuple(value, len(inner)):
        return [Mismatch("type", name, f"{_kind(value)}, expected a tuple of {len(inner)}")]
    return [m for i, one in enumerate(inner) for m in _structure(one, value[i], f"{name}[{i}]")]


def _slack(space: Any) -> tuple[Array, Array] | None:
    if not (hasattr(space, "low") and hasattr(space, "high")):
        return None
    low, high = np.asarray(space.low, float), np.asarray(space.high, float)
    # A bound of 0 is rounded like the other end of its range.
    low_size, high_size = np.where(np.isfinite(low), np.abs(low), 0), np.where(np.isfinite(high), np.abs(high), 0)
    margin = ROUNDING * np.maximum(low_size, high_size)
    return low - margin, high + margin


def _judge(name: str, space: Any, value: Any, bounds: tuple[Array, Array] | None) -> Mismatch | None:
    if bounds is not None:
        return _judge_box(name, space, value, bounds)
    if hasattr(space, "nvec") or (hasattr(space, "n") and getattr(space, "shape", ())):
        top = np.asarray(space.nvec if hasattr(space, "nvec") else 2)
        return _judge_many(name, space, value, top)
    if hasattr(space, "n"):
        return _judge_discrete(name, space, value)
    contains: Any = getattr(space, "contains", None)
    if contains is not None and not contains(value):
        return Mismatch("type", name, f"{_kind(value)} is not in {type(space).__name__}")
    return None


def _judge_box(name: str, space: Any, value: Any, bounds: tuple[Array, Array]) -> Mismatch | None:
    if not hasattr(value, "dtype"):
        return Mismatch("type", name, f"{_kind(value)}, expected an array of {space.dtype}")
    got = value if is_array(value) else np.asarray(value)
    if got.shape != tuple(space.shape):
        return Mismatch("shape", name, f"shape {got.shape}, declared {tuple(space.shape)}")
    if got.dtype.kind not in "biuf":
        return Mismatch("type", name, f"dtype {got.dtype}, expected {space.dtype}")
    low, high = bounds
    outside = (got < low) | (got > high)
    if outside.any():
        outside &= np.isfinite(got)
    if outside.any():
        return _outside(name, got, space, outside)
    if got.dtype != space.dtype:
        return Mismatch("dtype", name, f"{got.dtype}, declared {space.dtype}")
    return None


def _outside(name: str, got: Any, space: Any, outside: Any) -> Mismatch:
    first = int(np.flatnonzero(np.ravel(outside))[0])
    value = float(np.ravel(got)[first])
    where = f"{name}[{first}]" if got.shape else name
    low, high = float(np.ravel(space.low)[first]), float(np.ravel(space.high)[first])
    beyond = value - high if value > high else low - value
    span = high - low if np.isfinite(high - low) else abs(high if value > high else low)
    return Mismatch("bounds", where, f"{value:.5g}, declared {low:.4g} to {high:.4g}", beyond / max(span, 1e-12))


def _judge_many(name: str, space: Any, value: Any, top: Any) -> Mismatch | None:
    if not is_array(value) or value.dtype.kind not in "biu":
        return Mismatch("type", name, f"{_kind(value)}, expected an array of {space.dtype}")
    if value.shape != tuple(space.shape):
        return Mismatch("shape", name, f"shape {value.shape}, declared {tuple(space.shape)}")
    start = np.asarray(getattr(space, "start", 0))
    if bool(((value < start) | (value >= start + top)).any()):
        return Mismatch("bounds", name, f"{value.max()} or {value.min()} is outside the declared choices")
    return None


def _judge_discrete(name: str, space: Any, value: Any) -> Mismatch | None:
    if not is_whole(value):
        return Mismatch("type", name, f"{_kind(value)}, expected a whole number")
    start = int(getattr(space, "start", 0))
    if not start <= int(value) < start + int(space.n):
        return Mismatch("bounds", name, f"{int(value)}, declared {start} to {start + int(space.n) - 1}")
    return None


def _kind(value: Any) -> str:
    return "nothing (None)" if value is None else type(value).__name__
