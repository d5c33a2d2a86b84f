"""Rows that the world gives before they are due, against a slow twin, planted changes and counts of what they cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.exchange.early import COVERS, FADES, KEPT, LEAST, REST, ROWS, STRETCH, TIMES, YOUNG, Early
from firstbreak.monitor.exchange.predictor import Predictor
from firstbreak.monitor.world import EVERY_STEPS, World

Row = tuple[int, dict[str, float]]
LONG = 2 * YOUNG * EVERY_STEPS


def told(world: World, steps: int, *, gain: float = 1.0, pays: float = 1.0, seed: int = 0, at: int = 0) -> list[Row]:
    """Return the rows of a linear world, by the number of the step, counted from `at`."""
    rng, found = np.random.default_rng(seed), list[Row]()
    obs = rng.normal() * np.array([0.5, 0.2])  # where the actions lead: elsewhere nothing is said of what they do
    for number in range(steps):
        action = rng.normal(size=1)
        after = 0.9 * obs + gain * action * np.array([0.5, 0.2]) + 0.01 * rng.normal(size=2)
        world.step(obs, action, after, pays * float(obs[0]))
        obs = after
        if row := dict(world.numbers()):
            found.append((at + number + 1, row))
    return found


def is_early(row: dict[str, float]) -> bool:
    return "reward/env_nonfinite_frac" not in row


class SlowEarly:
    """What `Early` answers, from lists of all that was ever off."""

    def __init__(self) -> None:
        self.past: list[list[float]] = []
        self.left = self.foreseen = 0
        self.rested = REST

    def off(self, moved: float, paid: float, gain: float) -> bool:
        now = [max(one, least) for one, least in zip((moved, paid, abs(math.log(gain))), LEAST, strict=True)]
        most = [
            max([FADES**age * one[place] for age, one in enumerate(reversed(self.past))] or [LEAST[place]])
            for place in range(3)
        ]
        self.past.append(now)
        known = self.foreseen >= YOUNG and self.rested >= REST and not self.left
        if known and any(one > TIMES * usual for one, usual in zip(now, most, strict=True)):
            self.left, self.rested = ROWS, 0
            return True
        return False


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_a_stretch_is_off_where_a_slow_twin_says_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fast, slow = Early(), SlowEarly()
    for _ in range(200):
        moved, paid, gain = np.exp(rng.normal((-2, -2, 0), (1, 1, 0.3))).tolist()
        soon = slow.off(moved, paid, gain)
        assert fast.off((moved, gain), (paid, 1.0)) == soon
        if fast.rows and rng.random() < 0.5:
            fast.row()
            slow.left = max(0, slow.left - 1)
        if rng.random() < 0.5:
            fast.full_row(foreseen=True)
            slow.left = 0
            slow.rested += 1
            slow.foreseen += 1
        assert fast.rows == slow.left


@pytest.mark.parametrize("into", [0, 5, 20, 40, 60])
def test_a_change_is_told_before_a_full_row_and_of_its_own_steps_alone(into: int) -> None:
    world = World()
    told(world, LONG + into)
    rows = told(world, 2 * EVERY_STEPS, gain=-1.0, seed=1)
    soon = [(at, row) for at, row in rows if is_early(row)][:ROWS]
    assert soon[0][0] <= 1.5 * STRETCH + COVERS - KEPT, "half a stretch at most is not enough"
    assert soon[1][0] == soon[0][0] + COVERS
    for _, row in soon:
        assert -1.3 < row["env/action_gain"] < -0.5, "no step of before hides it"
        assert row["env/dynamics_surprise"] > 3
    full = [at for at, row in rows if not is_early(row)]
    assert full[0] == EVERY_STEPS - into, "full rows come when they would have come"


def test_a_full_row_after_early_ones_says_what_models_say_of_the_rest() -> None:
    world = World()
    told(world, LONG)
    rows = told(world, 2 * EVERY_STEPS, gain=-1.0, seed=1)
    assert [at for at, _ in rows] == [24, 40, 64, 128]
    assert all("env/dynamics_surprise" in row for _, row in rows)
    assert ["env/action_response" in row for _, row in rows] == [False, False, False, True], "it needs more steps"


def test_where_rows_are_long_a_change_is_told_of_its_own_steps_and_the_next_as_well() -> None:
    world = World(every_steps=EVERY_STEPS)
    rng = np.random.default_rng(0)
    surprises: list[float] = []
    for part in range(YOUNG + 12):
        gain = -1.0 if part == YOUNG + 2 else 4.0 if part == YOUNG + 10 else 1.0
        for _ in range(8 * EVERY_STEPS):
            obs, action = rng.normal(size=2), rng.normal(size=1)
            world.step(obs, action, 0.9 * obs + gain * action + 0.01 * rng.normal(size=2), 1.0)
        surprises.append(world.numbers().get("env/dynamics_surprise", 1.0))
    assert min(surprises[YOUNG + 2], surprises[YOUNG + 10]) > 3
    assert max(surprises[2 : YOUNG + 2]) < 2


def test_a_reward_that_changes_is_told_early() -> None:
    world = World()
    told(world, LONG)
    (at, row), *_ = told(world, EVERY_STEPS, pays=-1.0, seed=1)
    assert is_early(row)
    assert at == STRETCH + COVERS - KEPT
    assert row["reward/env_surprise"] > 8
    assert row["env/dynamics_surprise"] < 3


def test_a_world_that_goes_on_as_ever_is_told_as_ever() -> None:
    rows = told(World(), 4 * LONG)
    assert [at for at, _ in rows] == list(range(EVERY_STEPS, 4 * LONG + 1, EVERY_STEPS))


def test_none_while_models_are_young() -> None:
    world = World()
    told(world, YOUNG // 2 * EVERY_STEPS)
    rows = told(world, EVERY_STEPS, pays=3.0, seed=1)  # more gain is known as steps for one by then
    assert [at for at, _ in rows] == [EVERY_STEPS]


def test_only_what_models_say_and_a_world_that_stands_still_is_told_early() -> None:
    world = World()
    told(world, LONG)
    rng = np.random.default_rng(0)
    told_now: list[dict[str, float]] = []
    for _ in range(EVERY_STEPS):
        stands = np.array([0.5, 0.2])
        world.step(stands, rng.normal(size=1), stands, 1.0)
        told_now += [row] if (row := dict(world.numbers())) and is_early(row) else []
    models = {"env/action_gain", "env/dynamics_surprise", "env/predicted_frac", "reward/env_surprise"}
    models |= {"env/action_reread", "env/action_reading"}
    assert set(told_now[0]) == models | {"obs/constant_frac"}
    assert told_now[0]["obs/constant_frac"] == 1.0


def test_early_rows_are_rare_however_often_the_world_changes() -> None:
    world = World()
    told(world, LONG)
    rows: list[Row] = []
    steps = 40 * EVERY_STEPS
    for part in range(steps // 32):
        rows += told(world, 32, gain=(-3.0) ** (part % 9), seed=part, at=32 * part)
    many = sum(is_early(row) for _, row in rows)
    assert 0 < many <= ROWS * (1 + steps // (REST * EVERY_STEPS))


def test_asking_costs_a_call_every_few_steps_and_no_model_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    told(world, LONG)
    calls = {"asked": 0, "solve": 0}

    def counted(name: str, usual: Any) -> Any:
        def call(*args: Any) -> Any:
            calls[name] += 1
            return usual(*args)

        return call

    monkeypatch.setattr(Predictor, "asked", counted("asked", Predictor.asked))
    monkeypatch.setattr(np.linalg, "solve", counted("solve", np.linalg.solve))
    told(world, 10 * EVERY_STEPS)
    assert calls["asked"] == 2 * 10 * EVERY_STEPS // STRETCH
    assert calls["solve"] == 2 * 10, "one a model and row, as rows alone need"


def test_what_is_not_finite_gives_no_early_row() -> None:
    asked = Early()
    for _ in range(YOUNG):
        asked.full_row(foreseen=True)
    assert not asked.off((math.nan, 1.0), (0.1, 1.0))
    assert not asked.off((0.1, math.nan), (0.1, 1.0))
    assert not asked.off(None, (0.1, 1.0))
    assert not asked.off((0.1, 1.0), None)
    assert asked.off((TIMES * 0.2, 1.0), (0.1, 1.0))


def test_actions_that_do_less_are_told_where_little_is_missed() -> None:
    asked = Early()
    for _ in range(YOUNG):
        asked.full_row(foreseen=True)
    assert not asked.off((0.1, 0.8), (0.1, 1.0))
    assert asked.off((0.1, 0.2), (0.1, 1.0))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_what_is_asked_in_short_is_what_is_said_in_full(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, slopes = Predictor(3, 2), rng.normal(size=(3, 2))
    for _ in range(5):
        x = rng.normal(size=(64, 3))
        model.surprise(x, x @ slopes + 0.1 * rng.normal(size=(64, 2)))
    x = rng.uniform(-1, 1, size=(15, 3))  # within reach of what was learned, every step
    y = x @ slopes * 1.5 + 0.1 * rng.normal(size=(15, 2))
    said, gain = model.asked(x, y, slice(0, 2)), model.gain(x, y, slice(0, 2))
    assert said is not None
    assert gain is not None
    assert said[1] == pytest.approx(gain)
    assert Predictor(3, 2).asked(x, y) is None
    exact, off = model.asked(x, x @ slopes), model.asked(x, x @ slopes + 5 * np.linalg.norm(slopes, axis=0))
    assert exact is not None
    assert off is not None
    assert exact[0] < 0.2
    assert off[0] == pytest.approx(5, rel=0.2), "in spreads of the targets"
