"""The best paying loop of states in recorded play: Karp's maximum mean cycle over transitions that were repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .sample import RewardSample

Array = NDArray[np.float64]
Index = NDArray[np.int64]
MOST_STATES = 400
"""Distinct observations above which states are not taken for cells that one comes back to."""


@dataclass(frozen=True)
class Loop:
    """A loop's mean reward per step, when its transitions have been made before in the same episode."""

    per_step: float
    states: int
    edges: int


def best_loop(sample: RewardSample) -> Loop | None:
    """Return the best paying loop of `sample`; None when states hardly repeat or nothing was done twice.

    Only what a transition paid from its second time in an episode on counts: a bonus that is paid once is no loop.
    """
    if sample.observations is None or sample.next_observations is None or sample.actions is None:
        return None
    both = np.ascontiguousarray(np.concatenate([sample.observations, sample.next_observations]))
    _, state = np.unique(both, axis=0, return_inverse=True)
    state = state.reshape(-1)
    count = int(state.max()) + 1
    n = sample.rewards.size
    if count > min(MOST_STATES, 0.2 * n):
        return None
    kinds = np.unique(np.asarray(sample.actions).reshape(n, -1), axis=0, return_inverse=True)[1].reshape(-1)
    state, kinds = state.astype(np.int64), kinds.astype(np.int64)
    edges = _repeated(sample, state[:n], kinds, state[n:])
    if not edges:
        return None
    start = np.array([s for s, _ in edges])
    end = np.array([e for _, e in edges])
    pay = np.array(list(edges.values()))
    mean = max_mean_cycle(count, start, end, pay)
    return None if mean is None else Loop(mean, count, len(edges))


def _repeated(sample: RewardSample, start: Index, action: Index, end: Index) -> dict[tuple[int, int], float]:
    """Mean reward of each transition from its second time in an episode on; the best action counts.

    The last step of an episode does not count: what an end pays, of whichever kind, cannot be had by going round.
    """
    paid: dict[tuple[int, int, int], list[float]] = {}
    over = np.zeros(sample.rewards.size, dtype=bool)
    over[[rows.stop - 1 for rows in sample.slices]] = True
    for rows in sample.slices:
        made: set[tuple[int, int, int]] = set()
        for t in range(rows.start, rows.stop):
            key = (int(start[t]), int(action[t]), int(end[t]))
            if key in made and not over[t]:
                paid.setdefault(key, []).append(float(sample.rewards[t]))
            made.add(key)
    best: dict[tuple[int, int], float] = {}
    for (s, _, e), values in paid.items():
        best[(s, e)] = max(best.get((s, e), -np.inf), float(np.mean(values)))
    return best


def max_mean_cycle(count: int, start: Index, end: Index, pay: Array) -> float | None:
    """Largest mean `pay` per edge over all cycles of a graph of `count` nodes; None without a cycle (Karp 1978)."""
    reach = np.full((count + 1, count), -np.inf)
    reach[0] = 0.0  # as from a source with a free edge to every node
    for k in range(count):
        np.maximum.at(reach[k + 1], end, reach[k][start] + pay)
    last = reach[count]
    alive = np.isfinite(last)
    if not alive.any():
        return None
    steps = count - np.arange(count)
    with np.errstate(invalid="ignore"):
        mean = (last[None, :] - reach[:count]) / steps[:, None]
    mean[~np.isfinite(reach[:count])] = np.inf
    return float(mean.min(axis=0)[alive].max())
