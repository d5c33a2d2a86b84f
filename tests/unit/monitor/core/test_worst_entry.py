"""One wrong entry of many shows by itself, where the mean over entries hardly moves."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak.monitor.exchange.by_copy import ByCopy
from firstbreak.monitor.exchange.exchanged import Exchanged
from firstbreak.monitor.exchange.handed_on import HandedOn, Stored, taking_turns
from firstbreak.monitor.exchange.maps import EXACT, MEMORY, MOVES, Map, moving, ordered

ENTRIES, STEPS = 11, 64


def slowly(rows: list[tuple[np.ndarray, np.ndarray]]) -> float | None:
    """What `Map.worst` is after the last of `rows`, entry by entry and row by row."""
    worst = []
    for place in range(rows[0][0].shape[1]):
        exact, usual, told = False, None, None
        for given, found in ((one[:, place], other[:, place]) for one, other in rows):
            usual = given.var() if usual is None else usual
            varies = given.std() > 1e-9 and found.std() > 1e-9
            share = np.corrcoef(given, found)[0, 1] ** 2 if varies else 0.0
            asked = exact and given.var() > MOVES * usual
            told = share if asked else None
            if asked and varies and share < EXACT:
                told = max(share, ordered(given, found), moving(given, found))
            exact = exact or share >= EXACT
            usual = MEMORY * usual + (1 - MEMORY) * given.var()
        worst += [] if told is None else [told]
    return min(worst, default=None)


@pytest.mark.parametrize("seed", range(8))
def test_the_worst_entry_is_found_as_entry_by_entry(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale, noise, rows, mapping = rng.uniform(0.5, 2, 4), [0, 0, 0, 1.0], [], Map()
    for number in range(12):
        given = rng.normal(size=(20, 4)) * [1.0, 0.2 + (number % 3), 1.0, 1.0]
        found = given * scale + number + noise * rng.normal(size=(20, 4))
        if number % 4 == 3:
            found[:, number % 3] += rng.normal(size=20)
        if number % 5 == 4:
            found[:, 0] = 1.0
        rows.append((given, found))
        mapping.take(given, found)
        assert mapping.worst == (None if (wanted := slowly(rows)) is None else pytest.approx(wanted))
    assert mapping.worst is not None


def test_one_sensor_of_eleven_is_told_where_the_mean_hardly_moves() -> None:
    """Given an identity, when one entry of eleven holds another, or the same number, then it alone is at fault."""
    rng = np.random.default_rng(0)
    for wrong in (rng.normal(size=STEPS), np.full(STEPS, 0.3)):
        mapping = Map()
        for _ in range(3):
            given = rng.normal(size=(STEPS, ENTRIES))
            mapping.take(given, given)
        assert mapping.worst == pytest.approx(1)
        found = given.copy()
        found[:, 4] = wrong
        fit, _ = mapping.take(given, found)
        assert fit is not None
        assert fit > 0.9
        assert mapping.worst is not None
        assert mapping.worst < 0.2


def test_an_entry_that_hardly_varies_or_never_followed_says_nothing() -> None:
    rng = np.random.default_rng(1)
    mapping, steps = Map(), rng.normal(size=(STEPS, 1))
    mapping.take(steps, rng.normal(size=(STEPS, 1)))  # noise by design
    mapping.take(steps, rng.normal(size=(STEPS, 1)))
    assert mapping.worst is None
    mapping.take(steps, 2 * steps)
    mapping.take(0.1 * steps, rng.normal(size=(STEPS, 1)))
    assert mapping.worst is None
    mapping.take(steps, rng.normal(size=(STEPS, 1)))
    assert mapping.worst is not None
    mapping.take(steps[:, :0], steps)
    assert mapping.worst is None


def test_an_entry_that_lies_still_under_a_normaliser_that_moves_on_is_not_the_worst() -> None:
    rng = np.random.default_rng(4)
    mapping, steps = Map(), rng.normal(size=(STEPS, 1))
    mapping.take(steps, steps)
    drift = np.linspace(0, 8, STEPS)[:, None]
    fit, _ = mapping.take(steps, steps + drift)
    assert fit is not None
    assert fit < 0.6
    assert mapping.worst == pytest.approx(1)


def test_of_copies_the_worst_counts() -> None:
    """Given four copies with scales of their own, when one entry of one of them is wrong, then it is told."""
    rng, own = np.random.default_rng(2), ByCopy()
    copy = taking_turns(4 * STEPS, 4)
    for number in range(4):
        given = rng.normal(size=(copy.size, ENTRIES))
        found = given * (1.0 + copy)[:, None]
        if number == 3:
            found[copy == 2, 5] = rng.normal(size=STEPS)
        fit, _ = own.observations(given, found, copy)
    assert fit is not None
    assert fit > 0.9
    assert own.worst is not None
    assert own.worst < 0.2


@pytest.mark.parametrize("copies", [1, 2])
def test_a_row_holds_the_worst_entry(copies: int) -> None:
    rng, handed, exchanged = np.random.default_rng(3), HandedOn(), Exchanged()
    for number in range(3):
        for _ in range(STEPS * copies):
            obs = rng.normal(size=3)
            exchanged.add((obs, np.array(0), 1.0, False, False, obs))
        steps = exchanged.last(STEPS * copies)
        assert steps is not None
        stored = steps.obs.copy()
        if number == 2:
            stored[:, 1] = np.roll(stored[:, 1], copies)
        found = handed.numbers(steps, Stored(obs=stored, copy=taking_turns(len(stored), copies)))
        assert ("data/obs_entry_fit" in found) == (number > 0)
    assert found["data/obs_entry_fit"] < 0.4 < found["data/obs_fit"]
