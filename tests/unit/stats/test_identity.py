"""Where an identity breaks, against a slow loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.stats import identity_broken


def slow(states: list[str], held: int, lasts: int) -> tuple[float, float] | None:
    """`states` holds, a row, whether the identity is "right", "off" or neither."""
    for place in range(len(states)):
        if states[place : place + lasts] != ["off"] * lasts:
            continue
        for last in (place - 1, place - 2):
            before = states[max(0, last - held + 1) : last + 1] if last >= 0 else []
            between = states[last + 1 : place]
            if before == ["right"] * held and "off" not in between:
                return float(last), float(place)
    return None


@given(st.lists(st.sampled_from(["right", "right", "right", "off", "off", ""]), max_size=30), st.integers(1, 4),
       st.integers(1, 3))  # fmt: skip
def test_it_is_the_slow_loop(states: list[str], held: int, lasts: int) -> None:
    right, off = (np.array([state == name for state in states], np.bool_) for name in ("right", "off"))
    step = np.arange(len(states), dtype=float)
    assert identity_broken(step, right, off, held=held, lasts=lasts) == slow(states, held, lasts)


def test_a_row_in_which_both_are_mixed_lies_between() -> None:
    right = np.array([True] * 4 + [False] * 3)
    off = np.array([False] * 5 + [True] * 2)
    assert identity_broken(np.arange(7.0), right, off, held=4, lasts=2) == pytest.approx((3, 5))
    assert identity_broken(np.arange(7.0), right, off, held=5, lasts=2) is None
