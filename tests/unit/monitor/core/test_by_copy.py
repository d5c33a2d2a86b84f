"""Copies that are normalised apart follow by maps of their own; one that is mistreated shows among many."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak.monitor.exchange.by_copy import LEAST, ByCopy, apart, fitted, rewards
from firstbreak.monitor.exchange.handed_on import taking_turns
from firstbreak.monitor.exchange.maps import Map, moving, ordered

COPIES, EACH = 4, 48
TURNS = taking_turns(COPIES * EACH, COPIES)
SCALES = np.array([1.0, 0.5, 3.0, 8.0])


def slow_moving(given: np.ndarray, found: np.ndarray) -> float:
    """The same by the normal equations, one step after the other."""
    square, product = np.zeros((4, 4)), np.zeros(4)
    rows = []
    for place, (one, other) in enumerate(zip(given, found, strict=True)):
        time = 2 * place / (len(given) - 1) - 1
        row = np.array([1.0, time, one, one * time])
        rows.append(row)
        square += np.outer(row, row)
        product += row * other
    slopes = np.linalg.inv(square) @ product
    missed = sum((other - row @ slopes) ** 2 for row, other in zip(rows, found, strict=True))
    return 1 - missed / sum((other - found.mean()) ** 2 for other in found)


@pytest.mark.parametrize("seed", range(4))
def test_a_map_that_moves_against_normal_equations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given, found = rng.normal(size=40), rng.normal(size=40)
    found += 2 * given * np.linspace(0, 1, 40)
    assert moving(given, found) == pytest.approx(slow_moving(given, found))


def test_scales_of_their_own_are_no_mistake_and_one_swapped_copy_is() -> None:
    """Given copies with a scale each, when one has its entries swapped, then that one is told."""
    rng = np.random.default_rng(0)
    together, own = Map(), ByCopy()
    for number in range(12):
        given = rng.normal(size=(TURNS.size, 2)) * [1, 4]
        found = given * SCALES[TURNS, None] + TURNS[:, None]
        if number == 11:
            found[TURNS == 1] = found[TURNS == 1, ::-1]
        fit, shift = own.observations(given, found, TURNS)
        pooled, _ = together.take(given, found)
        if number < 11:
            assert fit == pytest.approx(1)
            assert shift is None or shift < 1e-6
            assert pooled is not None
            assert pooled < 0.9  # no one scale explains them
        else:
            assert fit is not None
            assert fit < 0.3


def test_half_of_the_copies_must_move_for_the_map_to_count_as_moved() -> None:
    rng = np.random.default_rng(1)
    for moved, far in (((0,), False), ((0, 1, 2), True)):
        own = ByCopy()
        given = rng.normal(size=(TURNS.size, 2))
        own.observations(given, given, TURNS)
        scale = np.where(np.isin(TURNS, moved), 3.0, 1.0)[:, None]
        _, shift = own.observations(given, given * scale, TURNS)
        assert shift is not None
        assert (shift > 0.2) == far


def test_a_normaliser_that_moves_within_a_row_is_no_mistake() -> None:
    """An entry that hardly varies, while the statistics of its one copy come nearer to it all along."""
    rng = np.random.default_rng(2)
    given = 3 + 0.05 * rng.normal(size=(TURNS.size, 1))
    time = np.repeat(np.linspace(0, 1, EACH), COPIES)[:, None]
    found = given * (1 - 0.2 * time) - 2 * time
    fit, _ = ByCopy().observations(given, found, TURNS)
    assert fit == pytest.approx(1, abs=0.01)
    assert Map().take(given, found)[0] == pytest.approx(0, abs=0.1)


def test_rewards_are_asked_copy_by_copy() -> None:
    rng = np.random.default_rng(3)
    given = rng.normal(size=TURNS.size)
    found = given * SCALES[TURNS]
    assert rewards(given, found, TURNS) == pytest.approx(1)
    assert fitted(given, found) < 0.9
    found[TURNS == 2] = np.roll(found[TURNS == 2], 1)
    assert rewards(given, found, TURNS) < 0.3
    found[TURNS == 2] = 0.0  # paid, and nothing arrives
    assert rewards(given, found, TURNS) == 0
    assert rewards(np.ones(TURNS.size), found, TURNS) is None  # nothing that varies


def test_what_is_cut_off_is_no_mistake_of_a_reward() -> None:
    rng = np.random.default_rng(4)
    given = rng.normal(size=64)
    found = np.clip(given, -0.5, 0.5)
    assert fitted(given, found) == pytest.approx(ordered(given, found))
    assert fitted(given, found) == pytest.approx(1)


def test_one_copy_alone_or_too_few_steps_are_not_asked() -> None:
    assert apart(taking_turns(64, 1)) == []
    assert apart(taking_turns(4 * (LEAST - 1), 4)) == []
    assert [number for number, _ in apart(taking_turns(4 * LEAST, 4))] == [0, 1, 2, 3]
    assert ByCopy().observations(np.zeros((8, 1)), np.zeros((8, 1)), taking_turns(8, 2)) == (None, None)
