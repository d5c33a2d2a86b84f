"""One member of a group against the others: what the others showed at its positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..series import Floats

PEERS = 8
"""Members asked about one other: their median is settled, and hundreds of ranks stay cheap. Engineering default."""


def peer_level(step: Floats, peers: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Return the median of what the first `PEERS` of `peers` (steps [m], values [m]) showed at `step` [n].

    Between its points a peer is read off by linear interpolation; outside of them it is not counted. NaN where no peer
    is left.
    """
    peers = peers[:PEERS]
    if not peers:
        return np.full(step.size, np.nan)
    table = np.array([np.interp(step, at, value, left=np.nan, right=np.nan) for at, value in peers])
    if np.isfinite(table).all():
        return np.median(table, axis=0)
    level = np.full(step.size, np.nan)
    known = np.isfinite(table).any(axis=0)
    level[known] = np.nanmedian(table[:, known], axis=0)
    return level
