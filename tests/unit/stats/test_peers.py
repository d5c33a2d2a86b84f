"""The level of peers against a slow twin that asks each peer at each position."""

from __future__ import annotations

import math
import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.stats.peers import PEERS, peer_level

CURVE = st.lists(
    st.tuples(st.integers(0, 20), st.floats(-1e6, 1e6)), min_size=1, max_size=8, unique_by=lambda point: point[0]
).map(sorted)


def read_off(at: float, points: list[tuple[int, float]]) -> float | None:
    """What one peer showed at `at`, None outside of its points."""
    for (left, low), (right, high) in zip(points, points[1:] or points, strict=False):
        if left <= at <= right:
            return low if right == left else low + (high - low) * (at - left) / (right - left)
    return points[-1][1] if at == points[-1][0] else None


@given(steps=st.lists(st.floats(-2, 22), max_size=6), peers=st.lists(CURVE, max_size=4))
def test_it_agrees_with_asking_each_peer(steps: list[float], peers: list[list[tuple[int, float]]]) -> None:
    arrays = [(np.array([p[0] for p in peer], float), np.array([p[1] for p in peer])) for peer in peers]
    for at, level in zip(steps, peer_level(np.array(steps), arrays).tolist(), strict=True):
        shown = [value for peer in peers if (value := read_off(at, peer)) is not None]
        if shown:
            assert math.isclose(level, statistics.median(shown), rel_tol=1e-9, abs_tol=1e-6)
        else:
            assert math.isnan(level)


def test_only_the_first_few_are_asked() -> None:
    step = np.arange(3.0)
    crowd = [(step, np.full(3, float(value))) for value in [1] * PEERS + [99] * 100]
    assert peer_level(step, crowd).tolist() == [1.0] * 3
