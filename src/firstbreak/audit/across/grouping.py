"""Which samples answer the same prompt at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..table import Table


@dataclass(frozen=True)
class Grouped:
    """The samples for which certain columns are known, sorted by group."""

    index: NDArray[np.int64]
    """Place of each in the table [M]."""
    start: NDArray[np.int64]
    """Where each group begins in `index` [G]."""
    size: NDArray[np.int64]
    """Members of each group [G]; at least 2."""


def grouped(table: Table, *names: str) -> Grouped | None:
    """Return the groups of two or more samples whose columns `names` are finite; None without any, or a column.

    A prompt that comes back at another trainer step is another group: the policy had changed in between.
    """
    columns = [table.get(name) for name in names]
    known = np.ones(table.n, bool)
    for column in columns:
        if column is None:
            return None
        known &= np.isfinite(column)
    index = np.flatnonzero(known)
    prompt = table.group[index]
    step = table.get("step")
    if step is None:
        return _sorted(index, prompt)
    return _sorted(index, np.nan_to_num(step[index], nan=-1.0), prompt) or _sorted(index, prompt)


def _sorted(index: NDArray[np.int64], *keys: NDArray[Any]) -> Grouped | None:
    order = np.lexsort(keys)
    new = np.zeros(index.size, bool)
    for key in keys:
        ordered = key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    if not index.size:
        return None
    new[0] = True
    start = np.flatnonzero(new)
    size = np.diff(np.append(start, index.size))
    keep = size >= 2
    if not keep.any():
        return None
    members = np.repeat(keep, size)
    sizes = size[keep]
    return Grouped(index[order][members], np.cumsum(sizes) - sizes, sizes)
