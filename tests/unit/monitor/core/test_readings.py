"""Actions that a slip on the way makes others of: told by what follows from them, within a stretch of steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.exchange.predictor import Predictor
from firstbreak.monitor.exchange.readings import METRIC, NUMBER, Readings, asked, could_tell
from firstbreak.monitor.exchange.slips import of_choices, of_numbers
from firstbreak.monitor.exchange.transitions import MOST_CHOICES, Floats, acting, expanded
from firstbreak.monitor.world import EVERY_STEPS, World

PUSHES = np.array([[0.5, 0.1, 0.0], [0.0, 0.2, 0.6]])
Row = tuple[int, dict[str, float]]
SLIPS: dict[int, Callable[[Floats], Floats]] = {
    0: lambda action: 0 * action,
    1: np.trunc,
    3: lambda action: np.clip(action, 0, 1),
    4: lambda action: np.clip(action, -1, 0),
    5: lambda action: -action,
    6: lambda action: action[::-1],
}


def told(steps: int, *, slip: Callable[[Floats], Floats] | None = None, at: int = 0) -> list[Row]:
    """Return the rows of a linear world, in which a slip makes others of actions from step `at` on."""
    rng, world, found = np.random.default_rng(0), World(), list[Row]()
    obs = rng.normal(size=3)
    for number in range(steps):
        action = np.clip(rng.normal(size=2), -1, 1)
        got = action if slip is None or number < at else slip(action)
        after = 0.9 * obs + got @ PUSHES + 0.05 * rng.normal(size=3)
        world.step(obs, action, after, float(obs[0]))
        obs = after
        if row := dict(world.numbers()):
            found.append((number + 1, row))
    return found


@pytest.mark.parametrize("number", sorted(SLIPS))
def test_a_slip_is_told_within_two_stretches_with_what_it_is(number: int) -> None:
    """Given a world that is known for ten rows, when actions arrive otherwise, then a row says so and as what."""
    at = 10 * EVERY_STEPS
    rows = [(step, row) for step, row in told(at + 64, slip=SLIPS[number], at=at) if METRIC in row]
    before = [row[METRIC] for step, row in rows if step <= at]
    step, first = next((step, row) for step, row in rows if step > at)
    assert min(before) > 1.0
    assert step <= at + 32
    assert first[METRIC] < 0.6
    assert first[NUMBER] == number


def test_unbroken_actions_explain_best_what_follows() -> None:
    rows = [row[METRIC] for _, row in told(60 * EVERY_STEPS) if METRIC in row]
    assert len(rows) > 50
    assert min(rows) > 1.0


def test_one_entry_alone_has_no_reverse() -> None:
    assert len(of_numbers(np.zeros((4, 1)))[1]) == len(of_numbers(np.zeros((4, 2)))[1]) - 1


def test_errors_of_readings_against_a_slow_twin() -> None:
    rng = np.random.default_rng(1)
    before, action = rng.normal(size=(300, 3)), rng.normal(size=(300, 2))
    change = action @ PUSHES - 0.1 * before + 0.1 * rng.normal(size=(300, 3))
    model = Predictor(expanded(before, action).shape[1], 3)
    model.surprise(expanded(before, action), change)
    _, others = of_numbers(action)
    places = acting(before, action)
    found = model.read_as(expanded(before, action), change, places, np.concatenate([others, others * others], axis=2))
    assert found is not None
    missed, moves = found
    size = np.std(change, axis=0)
    for number, one in enumerate(others):
        # Squares of actions were given to the model, which found that they do nothing.
        apart = ((action - one) @ PUSHES / size) ** 2
        assert moves[number].mean() == pytest.approx(apart.mean(), rel=0.1)
    for number, one in enumerate([action, *others]):
        inputs = expanded(before, action)
        inputs[:, places] = expanded(before, one)[:, places]
        # `asked` knows the median over steps of the same error.
        said = model.asked(inputs, change)
        assert said is not None
        assert np.sort(missed[number])[150] ** 0.5 == pytest.approx(said[0])


def test_a_model_that_knows_nothing_says_nothing() -> None:
    action = np.zeros((16, 2))
    inputs = expanded(np.zeros((16, 3)), action)
    assert Readings().row(Predictor(inputs.shape[1], 3), inputs, action, np.zeros((16, 3))) == {}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_a_reading_that_counts_is_always_one_of_actions_that_could_tell(seed: int, choices: bool) -> None:
    """The slow twin asks every reading; the short question may say yes too often, and never no where one counts."""
    rng = np.random.default_rng(seed)

    def actions(steps: int) -> Floats:
        if choices:
            return np.eye(MOST_CHOICES)[rng.integers(4, size=steps)]
        return rng.normal(size=(steps, 2)) + rng.normal(size=2)

    pushes = rng.normal(size=(MOST_CHOICES if choices else 2, 3)) * 10.0 ** rng.uniform(-2, 0)
    noise = 10.0 ** rng.uniform(-2, 0)
    before, action = rng.normal(size=(800, 3)), actions(800)
    inputs = expanded(before, action)
    model = Predictor(inputs.shape[1], 3)
    model.surprise(inputs, action @ pushes + noise * rng.normal(size=before.shape))
    before, action = rng.normal(size=(64, 3)), actions(64)
    inputs = expanded(before, action)
    number = int(rng.integers(3 if choices else 7))
    made = of_choices(action, 4)[1] if choices else of_numbers(action)[1]
    change = made[number] @ pushes + noise * rng.normal(size=before.shape)
    missed = float(np.median(model.missed_by(change - model.says(inputs)))) ** 0.5
    found = asked(model, inputs, action, change, many=4, long=False)
    assert found is None or could_tell(model, inputs, action, change, missed, 4)


@pytest.mark.parametrize(("pushes", "times"), [(0.0, 0), (1.0, 1)])
def test_where_no_action_moves_what_follows_no_reading_is_asked(
    monkeypatch: pytest.MonkeyPatch, pushes: float, times: int
) -> None:
    """Given observations that are drawn afresh, rows cost what they did; what actions move is asked in every row."""
    rng, world, calls = np.random.default_rng(0), World(), list[int]()
    usual = Predictor.read_as

    def counted(self: Predictor, x: Floats, y: Floats, places: slice, others: Floats) -> tuple[Floats, Floats] | None:
        calls.append(len(others))
        return usual(self, x, y, places, others)

    monkeypatch.setattr(Predictor, "read_as", counted)
    obs, asked_before = rng.normal(size=3), 0
    for number in range(60 * EVERY_STEPS):
        action = rng.normal(size=2)
        after = pushes * action @ PUSHES + 0.3 * rng.normal(size=3)
        world.step(obs, action, after, 0.0)
        obs = after
        world.numbers()
        if number == 30 * EVERY_STEPS:
            asked_before = len(calls)  # a model that learned little takes chance for what actions do
    assert len(calls) - asked_before >= 29 * times
    assert times or len(calls) == asked_before
