"""Means of reward and metric over even stretches of training."""

from __future__ import annotations

import numpy as np

from .sample import Array

BINS = 40
"""Stretches of training whose means are compared; each holds enough rows for a mean."""
LEAST_BINS = 20


def stretches(step: Array, reward: Array, metric: Array) -> tuple[Array, Array, Array]:
    """Means over up to `BINS` even stretches of training, oldest first."""
    order = np.argsort(step, kind="stable")
    parts = np.array_split(order, min(BINS, np.unique(step).size))
    at, paid, told = (np.array([column[p].mean() for p in parts]) for column in (step, reward, metric))
    return at, paid, told
