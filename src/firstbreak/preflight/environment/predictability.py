"""How well something can be told from something else on held-out data: the same small regressors for every question.

Two regressors of different kind are fitted, and the better one counts: ridge regression on quadratic and random
features (smooth dynamics), and the mean of the nearest neighbours (cells, jumps, tables).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .world import Array

QUADRATIC_COLUMNS = 20
"""Up to this many inputs all products of two are features; beyond, only the squares."""
RANDOM_FEATURES = 100
"""Random cosine features on top (Rahimi & Recht 2007, random features for large-scale kernel machines)."""
RIDGE = 1e-4
"""Ridge penalty per row on standardised features."""
NEIGHBOURS = 5
MOST_NEIGHBOUR_ROWS = 1000
CUT_SD = 6.0
"""Inputs and targets are cut at this many standard deviations, so that one jump does not decide."""


def held_out_r2(inputs: Array, targets: Array, held_out: NDArray[np.bool_]) -> Array:
    """Return the share of each target's held-out variance that `inputs` explain, [K], in [-1, 1].

    `inputs` [n, d] and `targets` [n, K]; `held_out` [n] marks the rows that are judged and not fitted. A target without
    spread has NaN. The better of the two regressors counts, target by target.
    """
    x, y = _standard(inputs, ~held_out), _standard(targets, ~held_out)
    scores = [_r2(_ridge(x, y, held_out), y[held_out])]
    scores.append(_r2(_nearest(x, y, held_out), y[held_out][:MOST_NEIGHBOUR_ROWS]))
    best = np.maximum(*scores)
    best[targets.std(axis=0) <= 1e-12 * np.maximum(1e-300, np.abs(targets).max(axis=0))] = np.nan
    return best


def blocks_held_out(rows: int, block: int = 40, share: float = 0.33) -> NDArray[np.bool_]:
    """Mark about `share` of `rows` in whole blocks, evenly spread: rows next to each other are near copies."""
    index = np.arange(rows) // block
    every = max(2, round(1 / share))
    return index % every == every - 1


def _standard(values: Array, fitted: NDArray[np.bool_]) -> Array:
    centre, spread = values[fitted].mean(axis=0), values[fitted].std(axis=0)
    return np.clip((values - centre) / np.where(spread > 0, spread, 1.0), -CUT_SD, CUT_SD)


def _r2(predicted: Array, truth: Array) -> Array:
    error = ((truth - predicted) ** 2).mean(axis=0)
    power = truth.var(axis=0)
    return np.clip(1 - error / np.where(power > 0, power, 1.0), -1.0, 1.0)


def features(x: Array) -> Array:
    """Return 1, x, products of two (or squares) and random cosines of `x` [n, d], side by side."""
    n, d = x.shape
    if d <= QUADRATIC_COLUMNS:
        i, j = np.triu_indices(d)
        second = x[:, i] * x[:, j]
    else:
        second = x**2
    draw = np.random.default_rng(0)  # fixed: the same data must get the same answer
    directions = draw.normal(0, 1 / np.sqrt(max(d, 1)), (d, RANDOM_FEATURES))
    waves = np.cos(x @ directions * 1.5 + draw.uniform(0, 2 * np.pi, RANDOM_FEATURES))
    return np.concatenate([np.ones((n, 1)), x, second, waves], axis=1)


def _ridge(x: Array, y: Array, held_out: NDArray[np.bool_]) -> Array:
    phi = features(x)
    fit = phi[~held_out]
    gram = fit.T @ fit + RIDGE * len(fit) * np.eye(fit.shape[1])
    return phi[held_out] @ np.linalg.solve(gram, fit.T @ y[~held_out])


def _nearest(x: Array, y: Array, held_out: NDArray[np.bool_]) -> Array:
    known, asked = x[~held_out][: 2 * MOST_NEIGHBOUR_ROWS], x[held_out][:MOST_NEIGHBOUR_ROWS]
    values = y[~held_out][: 2 * MOST_NEIGHBOUR_ROWS]
    distance = (asked**2).sum(1)[:, None] - 2 * asked @ known.T + (known**2).sum(1)[None, :]
    k = min(NEIGHBOURS, len(known))
    nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
    return values[nearest].mean(axis=1)
