"""Choices that are miscounted, actions that come late, and steps that are several: told as what they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from firstbreak.monitor.exchange import readings
from firstbreak.monitor.exchange.predictor import LEAST_UNEXPLAINED, Predictor
from firstbreak.monitor.exchange.readings import METRIC, NUMBER, REACH, SELDOM, TRIMMED, asked, held_for, trimmed
from firstbreak.monitor.exchange.slips import BEHIND, CHOSEN, HELD, TIMES, behind, choices_of, late, of_choices
from firstbreak.monitor.exchange.transitions import MOST_CHOICES, Floats, acting, expanded
from firstbreak.monitor.world import EVERY_STEPS, World

PUSHES = np.array([[0.5, 0.1, 0.0], [0.0, 0.2, 0.6]])
CHOICES = np.array([[0.5, 0.0, 0.0], [-0.5, 0.1, 0.0], [0.0, 0.2, 0.6], [0.0, 0.0, -0.4]])
AT = 10 * EVERY_STEPS
Row = tuple[int, dict[str, float]]


@dataclass
class Broken:
    """What becomes of actions from step `AT` on."""

    choice: Callable[[int], int] = lambda chosen: chosen
    late: int = 0
    times: int = 1
    smooth: float = 0.0
    """Share of the action before that each keeps, broken or not."""
    past: dict[int, deque[Floats]] = field(default_factory=dict)


def told(steps: int, broken: Broken, *, choices: bool = False, copies: int = 1) -> list[Row]:
    """Return the rows of a linear world whose copies take turns and begin anew at times."""
    rng, world, found = np.random.default_rng(0), World(), list[Row]()
    now = rng.normal(size=(copies, 3))
    for number in range(steps):
        copy, on = number % copies, number >= AT
        past = broken.past.setdefault(copy, deque(maxlen=4))
        chosen = int(rng.integers(len(CHOICES)))
        action = np.clip(rng.normal(size=2), -1, 1)
        if past and not choices:
            action = broken.smooth * past[-1] + (1 - broken.smooth) * action
        past.append(CHOICES[broken.choice(chosen) if on else chosen] if choices else action)
        got = past[max(0, len(past) - 1 - broken.late)] if on else past[-1]
        before = now[copy]
        after = before
        for _ in range(broken.times if on else 1):
            after = 0.9 * after + (got if choices else got @ PUSHES) + 0.05 * rng.normal(size=3)
        world.step(before, chosen if choices else action, after, float(before[0]))
        now[copy] = rng.normal(size=3) if rng.random() < 0.02 else after
        if row := dict(world.numbers()):
            found.append((number + 1, row))
    return found


def clearest(rows: list[Row], within: int) -> tuple[float, float]:
    """Return least ratio and its reading of rows within so many steps of the break; all before had to be above 1."""
    asked_of = [(step, row) for step, row in rows if METRIC in row]
    assert min(row[METRIC] for step, row in asked_of if step <= AT) > 1.0
    return min((row[METRIC], row[NUMBER]) for step, row in asked_of if AT < step <= AT + within)


COUNTED = {
    CHOSEN: lambda one: (one + 1) % 4,
    CHOSEN + 1: lambda one: (one - 1) % 4,
    CHOSEN + 2: lambda one: 3 - one,
}


@pytest.mark.parametrize("number", sorted(COUNTED))
def test_choices_that_are_counted_otherwise_are_told_within_two_stretches(number: int) -> None:
    """Given a world of choices that is known for ten rows, when they arrive as others, then a row says as which."""
    ratio, reading = clearest(told(AT + 64, Broken(choice=COUNTED[number]), choices=True), 32)
    assert ratio < 0.5
    assert reading == number


@pytest.mark.parametrize("copies", [1, 4])
@pytest.mark.parametrize("choices", [False, True])
@pytest.mark.parametrize("steps", [1, 2])
def test_actions_that_are_late_are_told_with_by_how_much(steps: int, choices: bool, copies: int) -> None:
    ratio, reading = clearest(told(AT + 64, Broken(late=steps), choices=choices, copies=copies), 64)
    assert ratio < 0.5
    assert reading == BEHIND + steps - 1


@pytest.mark.parametrize("choices", [False, True])
@pytest.mark.parametrize("times", [2, 4])
def test_steps_that_are_several_are_told(times: int, choices: bool) -> None:
    ratio, reading = clearest(told(AT + 64, Broken(times=times), choices=choices, copies=4), 32)
    assert ratio < 0.5
    assert reading == HELD + TIMES.index(times)


@pytest.mark.parametrize(("choices", "copies", "smooth"), [(True, 1, 0.0), (True, 4, 0.0), (False, 4, 0.9)])
def test_where_nothing_is_broken_actions_explain_best_what_follows(choices: bool, copies: int, smooth: float) -> None:
    rows = [row for _, row in told(60 * EVERY_STEPS, Broken(smooth=smooth), choices=choices, copies=copies)]
    ratios = [row[METRIC] for row in rows if METRIC in row]
    assert len(ratios) > 50
    assert min(ratios) > 0.99


def test_a_reading_that_moves_next_to_nothing_does_not_count() -> None:
    """Given actions that hardly do anything, when all readings miss as much, then none is said to explain it."""
    rng = np.random.default_rng(2)
    before, action = rng.normal(size=(400, 2)), rng.normal(size=(400, 1))
    change = rng.normal(size=(400, 2)) + 0.02 * action
    model = Predictor(expanded(before, action).shape[1], 2)
    model.surprise(expanded(before, action), change)
    newest = slice(-64, None)
    inputs = expanded(before[newest], action[newest])
    found = model.read_as(inputs, change[newest], acting(change, action), np.zeros((1, 64, 2)))
    assert found is not None
    assert found[1].mean() < REACH * trimmed(found[0])[0]
    assert asked(model, inputs, action[newest], change[newest]) is None


def test_what_the_state_explains_is_no_slip_of_actions() -> None:
    """Given a world that changed by a slope, when a policy pushes by the state alone, then no other push explains it.

    A slope that is steeper than was learned looks like pushes to the other side, wherever these go by the place.
    """
    rng = np.random.default_rng(3)
    place, free = rng.normal(size=(500, 1)), rng.normal(size=(500, 1))
    model = Predictor(expanded(place, free).shape[1], 1)
    model.surprise(expanded(place, free), 0.1 * place + 0.3 * free + 0.05 * rng.normal(size=place.shape))
    place = rng.normal(size=(64, 1))
    pushed = np.sign(place)
    change = 0.1 * place + 0.3 * pushed - 0.6 * place + 0.05 * rng.normal(size=place.shape)
    inputs = expanded(place, pushed)
    raw = model.read_as(
        inputs, change, acting(change, pushed), np.concatenate([-pushed, pushed * pushed], axis=1)[None]
    )
    assert raw is not None
    own, other = trimmed(raw[0]) ** 0.5
    assert other < 0.7 * own
    found = asked(model, inputs, pushed, change)
    assert found is not None
    assert found[0] > 1


@pytest.mark.parametrize("times", [2, 3])
def test_several_steps_against_a_slow_twin(times: int) -> None:
    """The model is followed number by number, and errors are sorted in plain Python."""
    rng = np.random.default_rng(4)
    before, action = rng.normal(size=(300, 2)), rng.normal(size=(300, 1))
    change = -0.1 * before + action * [0.4, 0.1]
    model = Predictor(expanded(before, action).shape[1], 2)
    model.surprise(expanded(before, action), change + 0.05 * rng.normal(size=change.shape))
    now, pushed = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    went = now.copy()
    for _ in range(times):
        went = went - 0.1 * went + pushed * [0.4, 0.1]
    went = went - now + 0.05 * rng.normal(size=went.shape)
    found = {one.number: one.ratio for one in held_for(model, expanded(now, pushed), pushed, went)}
    size = change.std(axis=0)
    errors: dict[int, list[float]] = {1: [], times: []}
    for place in range(40):
        at = now[place : place + 1]
        for number in range(1, times + 1):
            at = at + model.says(expanded(at, pushed[place : place + 1]))
            if number in errors:
                off = (went[place] - (at[0] - now[place])) / size
                errors[number].append(float(off @ off) / 2)
    own, other = (sum(sorted(one)[: -(40 // TRIMMED)]) / (40 - 40 // TRIMMED) for one in errors.values())
    least = LEAST_UNEXPLAINED**2
    assert min(found, key=lambda number: found[number]) == HELD + TIMES.index(times)
    assert found[HELD + TIMES.index(times)] == pytest.approx(((other + least) / (own + least)) ** 0.5, rel=0.05)


def test_numbers_of_states_are_no_scale() -> None:
    """Given a table of states, when choices move on its numbers, then nothing is said of other readings."""
    rng, world, state, found = np.random.default_rng(5), World(), 0, dict[str, float]()
    for _ in range(6 * EVERY_STEPS):
        chosen = int(rng.integers(4))
        after = (state + (1, -1, 12, -12)[chosen]) % 48
        world.step(np.array([state]), chosen, np.array([after]), 0.0)
        found |= world.numbers()
        state = after
    assert "env/dynamics_surprise" in found
    assert METRIC not in found


def test_of_two_choices_there_is_but_one_other() -> None:
    one_hot = np.eye(MOST_CHOICES)[[0, 1, 1, 0]]
    assert choices_of(one_hot) == 2
    numbers, made = of_choices(one_hot, 2)
    assert numbers.tolist() == [CHOSEN + 2]
    assert made.argmax(2).tolist() == [[1, 0, 0, 1]]


def slow_late(begins: np.ndarray, ends: np.ndarray, gap: int, steps: int) -> list[int]:
    """The same, step by step."""
    found = []
    for place in range(len(begins)):
        at = place
        for _ in range(steps):
            if at - gap < 0 or not np.allclose(begins[at], ends[at - gap], rtol=0, atol=1e-12):
                break
            at -= gap
        else:
            found.append(place)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_which_steps_follow_on_each_other_against_a_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    copies = int(rng.integers(1, 5))
    now, before, after = rng.normal(size=(copies, 2)), [], []
    for number in range(60):
        copy = number % copies
        before.append(now[copy].copy())
        after.append(now[copy] + rng.normal(size=2))
        now[copy] = rng.normal(size=2) if rng.random() < 0.2 else after[-1]
    begins, ends = np.array(before), np.array(after)
    change = ends - begins
    assert behind(begins, change, 0) == copies
    assert behind(begins, rng.normal(size=change.shape), copies) == 0
    for steps in (1, 2, 3):
        assert late(begins, change, copies, steps).tolist() == slow_late(begins, ends, copies, steps)


def test_time_is_asked_about_seldom_and_where_more_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row in `SELDOM` while nothing is broken; every one after a break whose errors are far above the usual."""
    asked_at: list[bool] = []
    usual = readings.asked

    def counted(*args: Any, **kwargs: Any) -> tuple[float, int] | None:
        asked_at.append(bool(kwargs.get("long", True)))
        return usual(*args, **kwargs)

    monkeypatch.setattr(readings, "asked", counted)
    rng = np.random.default_rng(6)
    model, told_of = Predictor(8, 2), readings.Readings()
    for number in range(17):
        before, action = rng.normal(size=(64, 2)), rng.normal(size=(64, 1))
        inputs = expanded(before, action)
        if number == 0:
            model = Predictor(inputs.shape[1], 2)
        change = (3.0 if number > 12 else 1.0) * action * [1, 0.5] + 0.1 * rng.normal(size=before.shape)
        told_of.row(model, inputs, action, change)
        if number <= 12:
            model.surprise(inputs, change)
    before_it, after_it = asked_at[:12], asked_at[12:]
    assert before_it == [number % SELDOM == 0 for number in range(12)]
    assert after_it == [True] * 4
