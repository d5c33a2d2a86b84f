"""Delta debugging: always a part that shows it, 1-minimal, and the only one where there is only one."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from firstbreak.experiments.shrink.ddmin import ddmin, split


def found(items: tuple[int, ...], needed: frozenset[frozenset[int]]) -> tuple[tuple[int, ...], int]:
    """Return what ddmin ends at where any of the sets in `needed` is enough, and how many tests it took."""
    seen: list[tuple[int, ...]] = [items]
    tests = 0

    def shows(chosen: tuple[int, ...]) -> bool:
        nonlocal tests
        tests += 1
        return any(one <= set(chosen) for one in needed)

    ddmin(items, shows, seen.append)
    return seen[-1], tests


sets = st.frozensets(st.integers(0, 11), min_size=1, max_size=5)


@given(st.frozensets(sets, min_size=1, max_size=3))
def test_the_answer_shows_it_and_none_of_its_parts_less_one_does(needed: frozenset[frozenset[int]]) -> None:
    answer, _ = found(tuple(range(12)), needed)
    assert any(one <= set(answer) for one in needed)
    for rest in combinations(answer, len(answer) - 1):
        assert not any(one <= set(rest) for one in needed)


@given(sets)
def test_the_only_minimal_set_is_found_in_order(needed: frozenset[int]) -> None:
    answer, tests = found(tuple(range(12)), frozenset({needed}))
    assert answer == tuple(sorted(needed))
    assert tests <= 12**2 + 3 * 12, "the bound of Zeller & Hildebrandt 2002, proposition 12"


def test_one_cause_costs_logarithmically_many_tests() -> None:
    answer, tests = found(tuple(range(64)), frozenset({frozenset({37})}))
    assert answer == (37,)
    assert tests <= 2 * 6


@given(st.lists(st.integers(), min_size=1, max_size=30).map(tuple), st.integers(1, 40))
def test_a_split_loses_nothing_and_is_even(items: tuple[int, ...], parts: int) -> None:
    chunks = split(items, parts)
    assert tuple(x for chunk in chunks for x in chunk) == items
    assert len(chunks) == min(parts, len(items))
    assert max(map(len, chunks)) - min(map(len, chunks)) <= 1
