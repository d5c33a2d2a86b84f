"""Features that a smooth potential of real-valued states, or a bonus for actions, is fitted with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST_PRODUCTS = 6
"""Dimensions up to which products and distances of pairs are taken; beyond it they outgrow the steps."""


def features(states: Array) -> Array:
    """A constant, then values, sizes, squares, sines, products and lengths of states [n, D]; unit spread [n, k]."""
    states = states[:, states.std(axis=0) > 1e-12]
    width = states.shape[1]
    columns = [*states.T, *np.abs(states).T, *(states**2).T, *np.sin(states).T, *np.cos(states).T]
    if width <= MOST_PRODUCTS:
        for i in range(width):
            for j in range(i):
                columns += [states[:, i] * states[:, j], np.hypot(states[:, i], states[:, j])]
    columns.append(np.linalg.norm(states, axis=1))
    kept = [(c - c.mean()) / c.std() for c in columns if c.std() > 1e-12]
    return np.stack([np.ones(len(states)), *kept], axis=1)


def action_features(action: Array) -> Array:
    """Values, sizes, squares and lengths of actions [n, A], and each value by itself where there are few."""
    a = action.reshape(len(action), -1)
    columns = [np.ones(len(a)), *a.T, *np.abs(a).T, *(a**2).T, np.linalg.norm(a, axis=1)]
    kinds = np.unique(a[:, 0])
    if kinds.size <= 20:
        columns += [(a[:, 0] == kind).astype(float) for kind in kinds]
    return np.stack(columns, axis=1)


def clock_features(here: Array, there: Array, gamma: float, clock: Array) -> Array:
    """Columns of a potential whose weights are a line in `clock` [n], each term at the time of its own state."""
    tick = float(np.diff(clock).max(initial=0.0))
    now, then = clock[:, None], clock[:, None] + tick
    return np.hstack([gamma * there - here, gamma * there * then - here * now])
