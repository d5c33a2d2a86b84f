"""The mean error of what follows, against a slow twin and planted changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.exchange.bias import ASKED, KNOWN, LAG, LEAST, METRIC, Bias
from firstbreak.monitor.exchange.predictor import REACH, Predictor
from firstbreak.monitor.world import World


def rows(seed: int, count: int, load: float = 0.0, far: bool = False, since: int = 30) -> list[tuple[Any, Any]]:
    """Return inputs [64, 3] and changes [64, 2] of some rows; from `since` on there is a load, or they lie far away."""
    rng = np.random.default_rng(seed)
    slopes, found = np.array([[-0.2, 0.1], [0.0, -0.1], [0.5, 0.2]]), list[tuple[Any, Any]]()
    for row in range(count):
        x = rng.normal(size=(64, 3)) + (9.0 if far and row >= since else 0.0)
        y = x @ slopes + rng.normal(0, 0.1, (64, 2)) + (load if row >= since else 0.0)
        found.append((x, y + (0.02 * x[:, :1] ** 2 if far else 0.0)))
    return found


def said(given_rows: list[tuple[Any, Any]]) -> list[float | None]:
    """Return what is said of each row."""
    model, bias, found = Predictor(3, 2), Bias(2), list[float | None]()
    for x, y in given_rows:
        found.append(bias.row(model, x, y).get(METRIC))
        model.surprise(x, y)
    return found


def slow(given_rows: list[tuple[Any, Any]]) -> list[float | None]:
    """Say the same entry by entry and step by step."""
    model, means, found = Predictor(3, 2), list[list[float]](), list[float | None]()
    for x, y in given_rows:
        answer = None
        if model.knows:
            steps = [
                [(y[m][k] - model.says(x[m : m + 1])[0][k]) / model.sizes[k] for k in range(2)] for m in range(len(x))
            ]
            usual = means[: max(0, len(means) - LAG)]
            mean = [abs(sum(step[k] for step in steps) / len(steps)) for k in range(2)]
            if len(usual) >= KNOWN:
                most = [max(LEAST, *(one[k] for one in usual)) for k in range(2)]
                if max(mean[k] / most[k] for k in range(2)) > ASKED:
                    near = [m for m in range(len(x)) if model.leverage(x[m : m + 1])[0] <= REACH]
                    mean = [abs(sum(steps[m][k] for m in near) / len(near)) for k in range(2)]
                answer = max(mean[k] / most[k] for k in range(2))
            means.append(mean)
        found.append(answer)
        model.surprise(x, y)
    return found


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 999))
def test_it_is_what_a_slow_twin_says(seed: int) -> None:
    for fast, twin in zip(said(rows(seed, 30)), slow(rows(seed, 30)), strict=True):
        assert (fast is None) == (twin is None)
        assert fast is None or fast == pytest.approx(twin, rel=1e-6)


def test_a_small_load_is_told_by_two_rows_on_end_and_then_followed() -> None:
    found = [one or 0.0 for one in said(rows(0, 90, load=0.15))]
    assert max(found[:30]) < 2.0
    assert min(found[30:32]) > 3.0
    assert max(found[40:]) < 2.0


def test_where_the_model_never_was_nothing_is_said() -> None:
    given_rows = rows(0, 31, far=True)
    model = Predictor(3, 2)
    for x, y in given_rows[:30]:
        model.surprise(x, y)
    assert np.mean(model.leverage(given_rows[30][0]) > REACH) > 0.5
    assert said(given_rows)[30] is None
    assert said(rows(0, 31))[30] is not None


def test_a_world_tells_it_with_full_rows_alone() -> None:
    world, rng = World(), np.random.default_rng(0)
    at, found = np.zeros(2), list[dict[str, float]]()
    for step in range(64 * 40):
        push = rng.uniform(-1, 1, 2)
        load = 0.05 if step >= 64 * 36 else 0.0
        after = 0.8 * at + 0.5 * push + rng.normal(0, 0.05, 2) + load
        world.step(at, push, after, 0.0)
        at = after
        if step % 64 == 63:
            found.append(dict(world.numbers()))
    values = [row.get(METRIC, 0.0) for row in found]
    assert max(values[:36]) < 2.0
    assert min(values[36:38]) > 3.0
