"""The spread of single rewards from means of batches, against rewards that are drawn and averaged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import synth
from firstbreak.rules.exploration.temperature_dominates import scattered
from firstbreak.view import RunView


def seen(means: np.ndarray, batch: float | None) -> RunView:
    metrics = {"reward/step_mean": lambda _t, _rng: means}
    if batch is not None:
        metrics["optim/batch_size"] = synth.constant(batch)
    return RunView(synth.run(metrics, n=means.size), float("inf"), float("-inf"))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([16, 64, 256]), st.floats(1e-3, 1e3))
def test_it_is_that_of_the_rewards_themselves(seed: int, batch: int, spread: float) -> None:
    rewards = spread * np.random.default_rng(seed).normal(size=(400, batch))
    view = seen(rewards.mean(axis=1), batch)
    points = view.get("reward/step_mean")
    assert points is not None
    assert scattered(view, points) == pytest.approx(float(rewards.std()), rel=0.25)


def test_without_the_size_of_batches_nothing_is_said() -> None:
    view = seen(np.random.default_rng(0).normal(size=50), None)
    points = view.get("reward/step_mean")
    assert points is not None
    assert scattered(view, points) == 0.0
