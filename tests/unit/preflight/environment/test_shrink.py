"""Delta debugging: short, still failing, and no dearer than its budget."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from firstbreak.preflight.environment.shrink import shortest


def holds(needed: list[int], actions: list[Any]) -> bool:
    """Whether `needed` is a subsequence of `actions`."""
    left = iter(actions)
    return all(any(a == n for a in left) for n in needed)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.data())
def test_the_result_fails_and_no_single_action_can_be_spared(actions: list[int], data: st.DataObject) -> None:
    picks = data.draw(st.lists(st.integers(0, len(actions) - 1), min_size=1, max_size=4, unique=True))
    needed = [actions[i] for i in sorted(picks)]
    found = shortest(actions, lambda a: holds(needed, a), budget_steps=10**6)
    assert found == needed


def test_the_budget_bounds_the_steps() -> None:
    spent = 0

    def fails(actions: list[Any]) -> bool:
        nonlocal spent
        spent += len(actions)
        return len(actions) >= 90

    assert len(shortest(list(range(100)), fails, budget_steps=1000)) >= 90
    assert spent <= 1000


def test_what_does_not_fail_again_is_left_alone() -> None:
    assert shortest([1, 2, 3], lambda actions: False) == [1, 2, 3]
