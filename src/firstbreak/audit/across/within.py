"""How one column goes with another among the answers to one prompt."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...stats import mean_interval
from ..table import Table
from .grouping import Grouped, grouped

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Correlation:
    """A rank correlation within prompts and its 95 % interval."""

    value: float
    low: float
    high: float
    groups: int
    """Prompts in which both columns vary."""
    samples: int


def correlation_within(table: Table, name: str) -> Correlation | None:
    """Return the rank correlation of a column with the reward within prompts; None where no prompt says anything of it.

    Ranks are taken within each prompt and their products summed over prompts (Spearman 1904, pooled within groups), so
    that easy and hard prompts cannot stand in for one another. The interval comes from the spread over prompts
    (linearised ratio, Student's t); of one prompt alone, from the normal approximation of Bonett and Wright 2000.
    """
    groups = grouped(table, name, "reward")
    if groups is None:
        return None
    x, y = (ranks_within(table.columns[n][groups.index].astype(np.float64), groups) for n in (name, "reward"))
    xy, xx, yy = (np.add.reduceat(product, groups.start) for product in (x * y, x * x, y * y))
    vary = (xx > 0) & (yy > 0)
    if not vary.any():
        return None
    xy, xx, yy = xy[vary], xx[vary], yy[vary]
    scale = math.sqrt(float(xx.sum()) * float(yy.sum()))
    value = float(xy.sum()) / scale
    low, high = _interval(value, xy / scale, xx / xx.sum(), yy / yy.sum(), int(groups.size[vary].sum()))
    return Correlation(value, low, high, int(vary.sum()), int(groups.size[vary].sum()))


def _interval(value: float, xy: Numbers, xx: Numbers, yy: Numbers, samples: int) -> tuple[float, float]:
    if xy.size == 1:
        if samples < 5 or abs(value) >= 1:
            return -1.0, 1.0
        half = 1.96 * math.sqrt((1 + value * value / 2) / (samples - 3))
        return math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)
    influence = xy - value / 2 * (xx + yy)
    _, low, high = mean_interval(value + xy.size * influence)
    return max(-1.0, low), min(1.0, high)


def ranks_within(values: Numbers, groups: Grouped) -> Numbers:
    """Return the mean ranks of `values` [M] within each group, centred on the group's middle [M]."""
    owner = np.repeat(np.arange(groups.size.size), groups.size)
    order = np.lexsort((values, owner))
    ordered, owners = values[order], owner[order]
    new = np.ones(values.size, bool)
    new[1:] = (ordered[1:] != ordered[:-1]) | (owners[1:] != owners[:-1])
    first = np.flatnonzero(new)
    count = np.diff(np.append(first, values.size))
    mean = np.repeat(first + (count - 1) / 2.0, count)
    ranks = np.empty(values.size)
    ranks[order] = mean - groups.start[owners] - (groups.size[owners] - 1) / 2.0
    return ranks
