"""Closed-form answers against value iteration on the tables, and the geometry of tolerances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.probes.environments.world import TERMINATED, World
from firstbreak.probes.ladder.reading import apart, tolerance
from firstbreak.probes.ladder.rungs import rungs
from firstbreak.probes.ladder.settling import where_it_goes

VALUE_RUNGS = [r for r in rungs().values() if r.asks == "value"]


def iterated(world: World, gamma: float) -> np.ndarray:
    """Value iteration, the slow twin: actions do not matter on value rungs; truncation goes on."""
    value = np.zeros(world.states)
    for _ in range(800):
        value = np.array(
            [
                np.mean(
                    [
                        np.mean(world.rewards[s][c])
                        + (0.0 if world.ends[s][c] == TERMINATED else gamma * value[world.successors[s][c]])
                        for c in range(world.cells)
                    ]
                )
                for s in range(world.states)
            ]
        )
    return value


@pytest.mark.parametrize("gamma", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("rung", VALUE_RUNGS, ids=lambda r: r.name)
def test_right_answers_are_those_of_value_iteration(rung, gamma: float) -> None:
    found = iterated(rung.world, gamma)[list(rung.judged)]
    np.testing.assert_allclose(rung.answers(gamma, True).right, found, atol=1e-6)


@pytest.mark.parametrize("rung", list(rungs().values()), ids=lambda r: r.name)
def test_wrong_answers_are_clear_of_the_right_one_and_say_what_is_wrong(rung) -> None:
    answers = rung.answers(rung.gamma, False)
    for wrong in answers.wrong:
        assert apart(wrong.answer, answers.right) > 2 * tolerance(rung, answers)
        assert 0 < len(wrong.says) <= 70


@given(st.floats(0.05, 0.85), st.floats(0.5, 10.0))
def test_geometric_errors_towards_zero_are_never_settled(ratio: float, start: float) -> None:
    errors = [start, start * ratio, start * ratio**2]
    assert where_it_goes(errors, 0.01) != "settled"


def test_errors_that_stay_are_settled_and_errors_that_speed_up_are_not() -> None:
    assert where_it_goes([1.0, 1.0, 1.0], 0.1) == "settled"
    assert where_it_goes([1.0, 0.6, 0.5], 0.1) == "settled"
    assert where_it_goes([0.97, 0.94, 0.72], 0.1) == "approaching"
    assert where_it_goes([1.0, 0.3, 0.05], 0.1) == "right"
