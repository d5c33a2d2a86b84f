"""How much the steps that end an episode look like the others: whether what is observed foretells the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .world import Array, Episode

MOST_COLUMNS = 200
"""Entries that are weighed together, those that differ most at the ends. Engineering default: cost."""
MOST_ROWS = 4000
"""Steps that are fitted beside the ends. Engineering default: cost."""
ROUNDS = 20
"""Newton steps of the fit; it hardly moves after ten. Engineering default."""
RIDGES = (1e-2, 1e-5)
"""Penalties of the squared weights, of entries in standard deviations, beside the mean loss; the better one counts.
A board of a hundred cells and thirty ends needs the larger; the smaller sees one step of a countdown of a hundred, a
thirtieth of a deviation. Engineering default."""


def share_alike(episodes: Sequence[Episode], length: int) -> float | None:
    """Return the share of the other steps that look as much like an end as some end does, in [0, 1].

    The ends are the last steps of the episodes of `length` steps that the environment ended. A logistic regression on
    the observations before and after each step, and on their squares, is fitted to every second episode and asked about
    the rest, then the other way round; the larger share counts. Nothing is asked of what was fitted: few ends can
    always be set apart by many entries. 0 where the ends can be told from all other steps; near 1 where nothing
    observed has to do with them. None with fewer than two ends, or nothing beside them.
    """
    played = [e for e in episodes if e.length]
    at_end = [e.ended and e.length == length for e in played]
    if sum(at_end) < 2:
        return None
    lengths = [e.length for e in played]
    last = np.zeros(sum(lengths), bool)
    last[np.cumsum(lengths)[at_end] - 1] = True
    half = np.repeat(_every_second(at_end), lengths)
    if not all((~last[part]).any() for part in (half, ~half)):
        return None
    folds = [(_entries(played, last, fitted), fitted) for fitted in (half, ~half)]
    return min(max(_alike(rows, last, fitted, ridge) for rows, fitted in folds) for ridge in RIDGES)


def _every_second(at_end: Sequence[bool]) -> NDArray[np.bool_]:
    """Mark every second of the episodes that end there, and every second of the others."""
    ends = np.array(at_end)
    return np.where(ends, np.cumsum(ends), np.cumsum(~ends)) % 2 == 0


def _alike(rows: Array, last: NDArray[np.bool_], fitted: NDArray[np.bool_], ridge: float) -> float:
    """The share of the steps not `fitted`, and not the last, that score like an end."""
    others = np.flatnonzero(fitted & ~last)
    chosen = np.concatenate([np.flatnonzero(fitted & last), others[:: 1 + len(others) // MOST_ROWS]])
    score = rows @ _weights(rows[chosen], last[chosen], ridge)
    return float((score[~fitted & ~last] >= score[~fitted & last].min()).mean())


def _entries(episodes: Sequence[Episode], last: NDArray[np.bool_], fitted: NDArray[np.bool_]) -> Array:
    """1 and the standardised entries that differ most between last and other steps, [steps, columns + 1]."""
    kept: list[Array] = []
    apart: list[Array] = []
    for shift in (0, 1):
        seen = _standard(np.concatenate([e.observations[shift : e.length + shift] for e in episodes]), fitted)
        for values in (seen, _standard(seen**2, fitted)):
            gap = np.abs(values[fitted & last].mean(axis=0) - values[fitted & ~last].mean(axis=0))
            best = np.argsort(-gap, kind="stable")[:MOST_COLUMNS]
            kept.append(values[:, best])
            apart.append(gap[best])
    order = np.argsort(-np.concatenate(apart), kind="stable")[:MOST_COLUMNS]
    table = np.concatenate(kept, axis=1)[:, order]
    return np.concatenate([np.ones((len(table), 1)), table], axis=1)


def _standard(values: Array, fitted: NDArray[np.bool_]) -> Array:
    """Centre and scale the columns by their `fitted` rows; those without (finite) spread are left out."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = values[fitted].mean(axis=0), values[fitted].std(axis=0)
    sound = np.isfinite(values).all(axis=0) & np.isfinite(spread) & (spread > 1e-9 * np.abs(centre))
    return (values[:, sound] - centre[sound]) / spread[sound]


def _weights(rows: Array, last: NDArray[np.bool_], ridge: float) -> Array:
    """Weights [columns] of a ridge logistic regression by Newton's method; ends and other steps count alike."""
    sign = np.where(last, 1.0, -1.0)
    counts = _as_array(np.where(last, 0.5 / last.sum(), 0.5 / (~last).sum()))
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        wrong = 1 / (1 + np.exp(np.clip(sign * (rows @ weights), -500, 500)))
        slope = rows.T @ (counts * sign * wrong) - ridge * weights
        bend = (rows * (counts * wrong * (1 - wrong))[:, None]).T @ rows + ridge * np.eye(rows.shape[1])
        move = _as_array(np.linalg.solve(bend, slope))
        now = _loss(weights, rows, sign, counts, ridge)
        while _loss(weights + move, rows, sign, counts, ridge) > now and np.abs(move).max() > 1e-9:
            move = move / 2  # a whole step may leap too far where the ends can be set apart
        weights = weights + move
    return weights


def _as_array(values: Any) -> Array:
    return np.asarray(values, np.float64)


def _loss(weights: Array, rows: Array, sign: Array, counts: Array, ridge: float) -> float:
    return float(counts @ np.logaddexp(0, -sign * (rows @ weights)) + ridge / 2 * weights @ weights)
