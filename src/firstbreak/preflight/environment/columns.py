"""What each flattened observation column is: constant, a flag or continuous, how wide it spreads, what it may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .remembered import remembered
from .world import Array, World

IMAGE_COLUMNS = 1024
"""From this many columns on an observation is treated as an image or another dense field: single columns say little.
The smallest image that common vision networks take, 36 x 36, has 1296."""
FEW_VALUES = 8
"""A column with no more distinct values than this is a flag or a category, not a measurement."""


@dataclass(frozen=True)
class Columns:
    """Facts about the D observation columns over all finite recorded rows."""

    rows: int
    spread: Array
    """[D]: robust standard deviation, from the central 90 % of the values; 0 where nine tenths agree."""
    constant: NDArray[np.bool_]
    """[D]: the same value (to rounding) in every row."""
    continuous: NDArray[np.bool_]
    """[D]: takes more than `FEW_VALUES` values and most of its values are not at one point."""
    low: Array
    """[D]: declared lower bound; -inf when not declared."""
    high: Array
    """[D]: declared upper bound; inf when not declared."""

    @property
    def count(self) -> int:
        """Number of columns D."""
        return len(self.spread)


def columns_of(world: World) -> Columns:
    """Return the facts about the observation columns of `world`, computed once."""
    return remembered(world, "columns", lambda: _columns(world))


def name_of(world: World, column: int) -> str:
    """Return the name of an observation column, `observation[3]` when the world names none."""
    return world.dimensions[column] if column < len(world.dimensions) else f"observation[{column}]"


def columns_text(columns: NDArray[np.intp], most: int = 6) -> str:
    """Return the indices of `columns` as a short text: `3, 4, 5 and 9 more`."""
    shown = ", ".join(str(int(c)) for c in columns[:most])
    return shown if len(columns) <= most else f"{shown} and {len(columns) - most} more"


def finite_rows(world: World) -> Array:
    """Return every recorded observation whose entries are all finite, [n, D]."""
    rows = world.observations
    return rows[np.isfinite(rows).all(axis=1)]


def is_image(world: World) -> bool:
    """Whether the observation is an image: a declared Box of rank 3, or very many columns."""
    shape = getattr(world.observation_space, "shape", None) or ()
    return len(shape) >= 3 or world.episodes[0].observations.shape[1] >= IMAGE_COLUMNS


def _columns(world: World) -> Columns:
    rows = finite_rows(world)
    count = world.episodes[0].observations.shape[1]
    low, high = flat_bounds(world.observation_space, count)
    if not len(rows):
        none = np.zeros(count, bool)
        return Columns(0, np.zeros(len(none)), none, none, low, high)
    least, most = rows.min(axis=0), rows.max(axis=0)
    # Relative to the size of the values: 1e6 + rounding noise is still a constant.
    constant = (most - least) <= 1e-9 * np.maximum(np.abs(least), np.abs(most))
    spread: Array = robust_spread(rows)
    thinned = rows[:: max(1, len(rows) // 2000)]
    if count < IMAGE_COLUMNS:
        distinct = np.array([len(np.unique(thinned[:, j])) for j in range(count)], int)
    else:
        distinct = np.full(count, FEW_VALUES + 1)
    continuous = np.asarray((distinct > FEW_VALUES) & (spread > 0), bool)
    return Columns(len(rows), spread, np.asarray(constant, bool), continuous, low, high)


def robust_spread(rows: Array) -> Array:
    """Standard deviation of each column of `rows` [n, D] as its 5 % to 95 % range tells it for Gaussian data (3.29)."""
    if rows.shape[0] * rows.shape[1] > 4_000_000:
        rows = rows[:: -(-rows.shape[0] * rows.shape[1] // 4_000_000)]
    lower, upper = np.quantile(rows, (0.05, 0.95), axis=0)
    return np.asarray((upper - lower) / 3.29, float)


def flat_bounds(space: Any, count: int) -> tuple[Array, Array]:
    """Return the declared bounds of `space`, flattened to `count` columns; infinite where they cannot be told.

    A discrete part is either one column of indices or a one-hot vector; whichever fits `count` is taken.
    """
    for one_hot in (False, True):
        low, high = _bounds(space, one_hot)
        if len(low) == count:
            return low, high
    return np.full(count, -np.inf), np.full(count, np.inf)


def _bounds(space: Any, one_hot: bool) -> tuple[Array, Array]:
    parts = getattr(space, "spaces", None)
    if parts is not None:
        inner = [_bounds(s, one_hot) for s in (parts.values() if hasattr(parts, "values") else parts)]
        return np.concatenate([p[0] for p in inner]), np.concatenate([p[1] for p in inner])
    if hasattr(space, "low") and hasattr(space, "high"):
        return np.ravel(np.asarray(space.low, float)), np.ravel(np.asarray(space.high, float))
    if hasattr(space, "nvec"):
        sizes = np.ravel(np.asarray(space.nvec, int))
    elif hasattr(space, "n"):
        if getattr(space, "shape", ()):
            flags = len(np.ravel(np.zeros(tuple(getattr(space, "shape", ())))))
            return np.zeros(flags), np.ones(flags)
        sizes = np.array([int(space.n)])
    else:
        return np.zeros(0), np.zeros(0)
    if one_hot:
        return np.zeros(int(sizes.sum())), np.ones(int(sizes.sum()))
    start = np.ravel(np.asarray(getattr(space, "start", 0), float))
    return np.zeros(len(sizes)) + start, sizes - 1.0 + start
