"""Whether the reward ranks the answers to a prompt as a human, or another score, does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..table import Table
from .grouping import Grouped, grouped

REPEATS = 400
"""Bootstrap samples: the ends of a 95 % interval are then right to about a twentieth of its width (Efron and
Tibshirani 1993, section 13.3, ask for more only for finer work)."""
MOST_PARTNERS = 64
"""Others in its group that a sample is compared with. Engineering default."""


@dataclass(frozen=True)
class Agreement:
    """How two columns order pairs of answers to the same prompt; intervals are 95 %, bootstrapped by prompt."""

    right_frac: float
    """Share of the pairs that `other` orders which the reward orders alike; a tie of the reward counts half."""
    right_low: float
    right_high: float
    tau_b: float
    """Kendall's tau-b over all pairs within prompts (Kendall 1945)."""
    tau_low: float
    tau_high: float
    pairs: int
    groups: int


def agreement(table: Table, other: str = "human", name: str = "reward", seed: int = 0) -> Agreement | None:
    """Return how `name` agrees with `other` within prompts; None where no pair of one prompt can be compared."""
    groups = grouped(table, name, other)
    if groups is None:
        return None
    x, y = (table.columns[n][groups.index].astype(np.float64) for n in (name, other))
    counts = pair_counts(x, y, groups, seed)
    counts = counts[(counts[:, 0] + counts[:, 1] + counts[:, 2]) > 0]
    if not counts.size:
        return None
    right, tau = scores(counts.sum(0))
    edges = np.array([[0.0, -1.0], [1.0, 1.0]])
    if len(counts) > 1:
        random = np.random.default_rng(seed)
        draws = [_redraw(counts, random) for _ in range(REPEATS)]
        edges = np.nanquantile(np.array([scores(d) for d in draws]), (0.025, 0.975), axis=0)
    (right_low, tau_low), (right_high, tau_high) = edges.tolist()
    ordered = int(counts[:, :3].sum())
    return Agreement(right, right_low, right_high, tau, tau_low, tau_high, ordered, len(counts))


def _redraw(counts: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    times = np.bincount(random.integers(len(counts), size=len(counts)), minlength=len(counts))
    return times @ counts


def scores(counts: NDArray[np.int64]) -> tuple[float, float]:
    """Return the share of pairs ordered alike and tau-b, from the counts of `pair_counts` [5]."""
    alike, against, tied_x, tied_y, _ = (int(c) for c in counts)
    ordered = alike + against + tied_x
    x_differs, y_differs = alike + against + tied_y, ordered
    right = (alike + tied_x / 2) / ordered if ordered else float("nan")
    return right, (alike - against) / (x_differs * y_differs) ** 0.5 if x_differs and y_differs else 0.0


def pair_counts(x: NDArray[np.float64], y: NDArray[np.float64], groups: Grouped, seed: int = 0) -> NDArray[np.int64]:
    """Count the pairs within each group: ordered alike, against one another, tied in x only, in y only, in both
    [G, 5]. In a group of more than `MOST_PARTNERS` each sample meets that many others, drawn at random.
    """
    owner = np.repeat(np.arange(groups.size.size), groups.size)
    shuffle = np.lexsort((np.random.default_rng(seed).random(x.size), owner))
    x, y = x[shuffle], y[shuffle]
    counts = np.zeros((groups.size.size, 5), np.int64)
    for apart in range(1, min(int(groups.size.max()), MOST_PARTNERS + 1)):
        same = owner[apart:] == owner[:-apart]
        who = owner[apart:][same]
        if not who.size:
            break
        dx = np.sign(x[apart:] - x[:-apart])[same]
        dy = np.sign(y[apart:] - y[:-apart])[same]
        kinds = (dx * dy > 0, dx * dy < 0, (dx == 0) & (dy != 0), (dx != 0) & (dy == 0), (dx == 0) & (dy == 0))
        for column, kind in enumerate(kinds):
            counts[:, column] += np.bincount(who[kind], minlength=len(counts))
    return counts
