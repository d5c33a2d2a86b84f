"""What shaping terms are fitted with: clocks, decoys, and how many loops must close."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from firstbreak.preflight.shaping import path_dependence
from firstbreak.preflight.shaping_features import clock_features, features
from firstbreak.preflight.shaping_smooth import _blind
from firstbreak.preflight.shaping_unknown import LEAST_LOOPS, independent_loops

GAMMA = 0.9


def test_clock_features_against_a_slow_twin() -> None:
    random = np.random.default_rng(0)
    here, there, clock = random.normal(size=(5, 3)), random.normal(size=(5, 3)), np.array([0.0, 0.1, 0.2, 0.0, 0.1])
    found = clock_features(here, there, GAMMA, clock)
    for i in range(5):
        for k in range(3):
            still = GAMMA * there[i, k] - here[i, k]
            moving = GAMMA * there[i, k] * (clock[i] + 0.1) - here[i, k] * clock[i]
            assert found[i, k] == pytest.approx(still)
            assert found[i, 3 + k] == pytest.approx(moving)


def test_a_potential_that_grows_in_a_line_lies_among_the_clock_features() -> None:
    random = np.random.default_rng(1)
    states = random.normal(size=(301, 3))
    clock = np.arange(300) / 300.0
    now, then = 1.0 + 2.0 * clock, 1.0 + 2.0 * (clock + 1 / 300)
    weights = np.array([0.3, -1.0, 0.7])
    term = GAMMA * then * (states[1:] @ weights) - now * (states[:-1] @ weights)

    def left(columns: Any) -> float:
        rest = term - columns @ np.linalg.lstsq(columns, term, rcond=None)[0]
        return float(np.var(rest) / np.var(term))

    assert left(clock_features(states[:-1], states[1:], GAMMA, clock)) < 1e-12
    assert left(GAMMA * states[1:] - states[:-1]) > 1e-3  # a still potential does not hold it


def halves(n: int) -> tuple[Any, Any]:
    learn = np.arange(n) % 2 == 0
    return learn, ~learn


def test_steps_that_hardly_move_along_one_line_let_pay_for_the_place_pass() -> None:
    """On a straight line walked at one speed, what is paid for the place is a potential's term as well."""
    place = np.linspace(-1.0, 1.0, 401)[:, None]
    table = features(place)
    here, there = table[:-1], table[1:]
    assert _blind(GAMMA * there - here, there, *halves(400))


@pytest.mark.parametrize("dimensions", [1, 3])
def test_steps_that_go_everywhere_tell_the_decoys_apart(dimensions: int) -> None:
    random = np.random.default_rng(2)
    states = random.normal(size=(801, dimensions))
    table = features(states)
    here, there = table[:-1], table[1:]
    assert _blind(GAMMA * there - here, there, *halves(800)) == ""


def test_steps_that_almost_keep_to_one_line_tell_them_apart() -> None:
    random = np.random.default_rng(3)
    place = np.cumsum(0.2 * random.choice([-1.0, 1.0], 801) + 0.1 * random.normal(size=801))[:, None]
    table = features(place)
    here, there = table[:-1], table[1:]
    assert _blind(GAMMA * there - here, there, *halves(800)) == ""


def grid(cells: list[tuple[int, int]], potential: Callable[[int], float], visits: int = 4) -> Any:
    """Walk each step (from, to) of a graph `visits` times; the last of all ends truly in state -1."""
    walk = [step for step in cells for _ in range(visits)]
    before = np.array([[a] for a, _ in walk] + [[walk[-1][1]]], dtype=float)
    after = np.array([[b] for _, b in walk] + [[-1]], dtype=float)
    over = np.arange(len(before)) == len(before) - 1
    term = [
        GAMMA * (0.0 if o else potential(int(b[0]))) - potential(int(a[0]))
        for a, b, o in zip(before, after, over, strict=True)
    ]
    return path_dependence(term, before, after, GAMMA, over, np.zeros(len(before), bool), actions=None)


def path_and_back(loops: int) -> list[tuple[int, int]]:
    """A path over 13 states, and back again along its first `loops` steps, each of which closes one loop."""
    return [(k, k + 1) for k in range(12)] + [(k + 1, k) for k in range(loops)]


@pytest.mark.parametrize("loops", [LEAST_LOOPS - 2, LEAST_LOOPS - 1, LEAST_LOOPS, LEAST_LOOPS + 1])
def test_a_potential_is_believed_from_so_many_loops_on(loops: int) -> None:
    seen = grid(path_and_back(loops), lambda state: 0.5 * state - 0.03 * state * state)
    assert seen.tested.startswith(f"{loops} independent closed loops")
    assert not seen.faults
    assert seen.sound is (True if loops >= LEAST_LOOPS else None)
    assert (f"only {loops} loops closed" in seen.undecided) == (loops < LEAST_LOOPS)


def slow_loops(edges: list[tuple[int, int]], count: int) -> int:
    """Steps that join two states that are joined already, one by one."""
    group = list(range(count))
    closed = 0
    for a, b in sorted(set(edges)):
        if group[a] == group[b]:
            closed += 1
        else:
            old = group[b]
            group = [group[a] if g == old else g for g in group]
    return closed


@pytest.mark.parametrize("seed", range(6))
def test_loops_against_a_slow_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(3, 20))
    edges = [(int(a), int(b)) for a, b in random.integers(0, count, (int(random.integers(1, 40)), 2))]
    start, end = np.array([a for a, _ in edges]), np.array([b for _, b in edges])
    assert independent_loops(start, end, count) == slow_loops(edges, count)
