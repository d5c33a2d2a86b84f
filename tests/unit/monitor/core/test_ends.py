"""Which ends lie where episodes went on: told as a slow twin has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.exchange import ends
from firstbreak.monitor.exchange.ends import Ends


def known_of(seen: Any) -> Ends:
    """Return what knows where episodes of 60 steps went on [n, m, 1]."""
    known = Ends(1)
    for part in seen:
        known.moved(part[::-1], part)
        known.stretch(part)
    known.lasted(60)
    return known


def usual(rng: np.random.Generator, stretches: int = 60) -> Any:
    """Return stretches of observations [n, 16, 1] within a bound of 1."""
    return rng.uniform(-1, 1, (stretches, 16, 1))


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ([(0.3, -1.0, 9)] * 4, [0.25, 0.5, 0.75, 1.0]),
        ([(0.3, 5.0, 9)] * 4, [None] * 4),  # paid as a goal, not as a fall
        ([(0.3, -1.0, 90)] * 4, [None] * 4),  # what ends the longest episodes may be a limit
        ([(0.3, -1.0, 9), (1.2, -1.0, 9), (1.1, -1.0, 9), (1.3, -1.0, 9), (1.1, -1.0, 9)], [0.25] * 4 + [None]),
    ],
    ids=["inside", "goal", "limit", "one"],
)
def test_ends_lie_outside_until_they_do_not(last: list[tuple[float, float, int]], said: list[float | None]) -> None:
    known = known_of(usual(np.random.default_rng(0)))
    for _ in range(ends.KNOWN + 2):
        known.ended(np.array([1.1]), -1.0, 20)
    assert [known.ended(np.array([at]), reward, steps) for at, reward, steps in last] == said


def test_ends_that_ever_lay_inside_say_nothing() -> None:
    known = known_of(usual(np.random.default_rng(0)))
    said = [known.ended(np.array([0.2 if place % 7 == 0 else 1.1]), -1.0, 20) for place in range(60)]
    assert set(said) == {None}


def slow_ends(seen: Any, given_ends: list[tuple[float, float, int]]) -> list[float | None]:
    """Return what is said at each end, worked out anew of all ends up to it."""
    found, low, high = list[float | None](), float(seen.min()), float(seen.max())
    for now in range(1, len(given_ends) + 1):
        known = given_ends[:now]
        outside = [at < low or at > high for at, _, _ in known]
        news = list[bool]()
        for place, (_, reward, steps) in enumerate(known):
            paid = [one[1] for one, out in zip(known[:place], outside[:place], strict=True) if out]
            beside = ends.WIDER * (max(paid) - min(paid)) if paid else 0.0
            like = bool(paid) and min(paid) - beside <= reward <= max(paid) + beside
            news.append(not outside[place] and like and steps < max(60, *(one[2] for one in known[:place]), 0))
        others = any(not out and not new for out, new in zip(outside, news, strict=True))
        window = ends.FEWER if sum(outside) >= ends.MANY else ends.NEWEST
        told = not others and not any(news[:-window]) and sum(outside) >= ends.KNOWN
        found.append(sum(news[-window:]) / window if told else None)
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 999), st.floats(0, 0.1), st.sampled_from((26, ends.MANY, 70)))
def test_ends_are_told_as_by_a_slow_twin(seed: int, chance: float, before: int) -> None:
    rng = np.random.default_rng(seed)
    seen = usual(rng)
    known = known_of(seen)
    given_ends = [
        (
            0.3 if place >= before or rng.random() < chance / 4 else float(rng.choice([-1.2, 1.1])),
            5.0 if rng.random() < chance / 4 else -1.0 - float(rng.random()) / 4,
            90 if rng.random() < chance / 4 else int(rng.integers(3, 60)),
        )
        for place in range(before + 5)
    ]
    assert [known.ended(np.array([at]), reward, steps) for at, reward, steps in given_ends] == slow_ends(
        seen, given_ends
    )


def test_of_many_that_lay_outside_three_tell() -> None:
    known = known_of(usual(np.random.default_rng(0)))
    for _ in range(ends.MANY):
        known.ended(np.array([1.1]), -1.0, 20)
    assert [known.ended(np.array([0.3]), -1.0, 9) for _ in range(3)] == pytest.approx([1 / 3, 2 / 3, 1.0])


@pytest.mark.parametrize(("at", "said"), [(1.1, 0.25), (0.3, None)], ids=["outside", "inside"])
def test_ends_of_a_first_policy_count_when_it_is_known_where_they_lie(at: float, said: float | None) -> None:
    """Before any stretch nothing is known of where episodes go on; a policy that learned has hardly any ends."""
    known = Ends(1)
    for place in range(ends.KNOWN):
        assert known.ended(np.array([1.1 if place else at]), -1.0, 20) is None
    for part in usual(np.random.default_rng(0)):
        known.moved(part[::-1], part)
        known.stretch(part)
    known.lasted(60)
    assert known.ended(np.array([0.3]), -1.0, 9) == said


def test_a_goal_that_is_new_is_no_bound_that_was_passed() -> None:
    """What an episode keeps lies further out than ever now and then, whatever ends the episode."""
    known, rng = Ends(2), np.random.default_rng(0)
    for part in usual(rng):
        after = np.concatenate([part, np.full((16, 1), rng.normal())], axis=1)
        known.moved(np.concatenate([part[::-1], after[:, 1:]], axis=1), after)
        known.stretch(after)
    known.lasted(60)
    for _ in range(ends.MANY):
        known.ended(np.array([1.1, rng.normal()]), -1.0, 20)
    assert [known.ended(np.array([0.3, 9.0]), -1.0, 9) for _ in range(3)][-1] == 1.0
