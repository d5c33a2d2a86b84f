"""Whether the newest stored transitions are links of one chain: what followed one is what the next begins with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

METRIC = "replay/chain_broken_frac"
NEWEST = 64
"""Stored rows that are looked at, the newest. Engineering choice: what off-policy rows cover."""
MOST_ENTRIES = 4096
"""Larger observations (images) are not compared: copying them would cost more than the rest of a row."""


def broken(obs: NDArray[Any], following: NDArray[Any], ends: NDArray[Any]) -> dict[str, float]:
    """Return the share of transitions [T, N] in a row that are not followed by one that begins where they ended.

    Comparisons are exact. Those that end an episode do not count.

    Args:
        obs: Observations before each step, oldest first [T, N, ...].
        following: Observations after it.
        ends: Whether the episode ended with it [T, N].
    """
    steps, copies = ends.shape
    goes_on = ends[:-1] == 0
    if steps < 2 or not goes_on.any():
        return {}
    then, now = following[:-1].reshape(steps - 1, copies, -1), obs[1:].reshape(steps - 1, copies, -1)
    same = (then == now) | (np.isnan(then.astype(np.float64)) & np.isnan(now.astype(np.float64)))
    return {METRIC: float((~same.all(-1))[goes_on].mean())}


def newest(count: int, position: int, size: int) -> NDArray[np.intp]:
    """Return the places of the newest `count` rows of a ring of `size`, oldest first, where `position` is next."""
    return np.arange(position - count, position) % size


def of_sb3(buffer: Any) -> dict[str, float]:
    """Look at a replay buffer of Stable-Baselines3; nothing where it keeps observations once, or in pieces."""
    obs: Any = getattr(buffer, "observations", None)
    following: Any = getattr(buffer, "next_observations", None)
    if isinstance(obs, dict) or obs is None or following is None:
        return {}
    if obs[0].size > MOST_ENTRIES * buffer.n_envs:
        return {}
    count = min(NEWEST, buffer.buffer_size if buffer.full else buffer.pos)
    rows = newest(count, buffer.pos, buffer.buffer_size)
    return broken(obs[rows], following[rows], buffer.dones[rows]) if count > 1 else {}


def of_reference(buffer: Any, copies: int) -> dict[str, float]:
    """Look at the replay buffer of a reference trainer, in which the rows of `copies` environments take turns."""
    writer, held = getattr(buffer, "_writer", None), len(buffer)
    position = getattr(writer, "_cursor", None)
    count = min(NEWEST, held // copies) * copies
    if position is None or count < 2 * copies:
        return {}
    rows = buffer[newest(count, int(position), held)]
    obs, following = (rows[name].numpy().reshape(count // copies, copies, -1) for name in ("obs", "next_obs"))
    ends = (rows["terminated"] | rows["truncated"]).numpy().reshape(count // copies, copies)
    return broken(obs, following, ends) if obs[0].size <= MOST_ENTRIES * copies else {}
