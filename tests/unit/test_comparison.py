"""A run and its twin: where they part, where they do not, and which settings differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.api import compare
from firstbreak.comparison import compare_runs, config_differences
from firstbreak.loading import load
from firstbreak.runlog import RunLog
from firstbreak.series import Curve


def run_of(values: np.ndarray, metric: str = "policy/loss", step: float = 1.0, **settings: Any) -> RunLog:
    log = synth.run({metric: synth.flat(0.0)}, n=values.size, step=step, **settings)
    series = replace(log.series[0], curve=Curve(log.series[0].step, values))
    return replace(log, series=(series,))


def noise(seed: int, n: int = 100) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n)


def test_a_common_course_gives_the_exact_onset() -> None:
    mine, other = noise(0), noise(0)
    other[40:] = noise(1)[40:]
    (found,) = compare_runs(run_of(mine), run_of(other)).divergences
    assert found.exact
    assert (found.onset.lo, found.onset.hi) == (40.0, 41.0)
    assert (found.a, found.b) == (mine[40], other[40])


@pytest.mark.parametrize("seed", range(10))
def test_noise_alone_keeps_two_runs_together(seed: int) -> None:
    comparison = compare_runs(run_of(noise(seed)), run_of(noise(100 + seed)))
    assert comparison.divergences == ()
    assert comparison.together == ("policy/loss",)


def test_one_equal_value_at_the_start_is_no_common_course() -> None:
    mine, other = noise(0), noise(1)
    mine[:2] = other[:2] = 0.0
    assert compare_runs(run_of(mine), run_of(other)).divergences == ()


def test_a_difference_beyond_the_noise_is_dated() -> None:
    mine, other = noise(0), noise(1)
    other[60:] += 40.0
    (found,) = compare_runs(run_of(mine), run_of(other)).divergences
    assert not found.exact
    assert found.onset.hi == 61.0
    assert found.size > 10


def test_single_points_do_not_count() -> None:
    mine, other = noise(0), noise(1)
    other[[20, 50, 51]] += 100.0
    assert compare_runs(run_of(mine), run_of(other)).divergences == ()


def test_a_twin_that_turns_nan_has_parted() -> None:
    mine, other = noise(0), noise(1)
    other[70:] = np.nan
    (found,) = compare_runs(run_of(mine), run_of(other)).divergences
    assert found.onset.hi == 71.0
    assert np.isnan(found.b)
    assert found.size == float("inf")
    other = np.full(100, np.nan)
    assert compare_runs(run_of(mine), run_of(other)).divergences[0].onset.hi == 1.0
    assert compare_runs(run_of(other), run_of(other)).divergences == ()


def test_metrics_over_many_decades_are_compared_in_the_logarithm() -> None:
    course = np.exp(np.linspace(0, 12, 100))
    mine, other = course * np.exp(0.3 * noise(0)), course * np.exp(0.3 * noise(1))
    assert compare_runs(run_of(mine), run_of(other)).divergences == ()


def test_runs_logged_at_other_steps_are_compared_by_interpolation() -> None:
    line = np.linspace(0.0, 1.0, 200)
    comparison = compare_runs(run_of(line), run_of(line[1::2], step=2.0))
    assert comparison.together == ("policy/loss",)


def test_what_cannot_be_compared_is_said_with_the_reason() -> None:
    comparison = compare_runs(run_of(noise(0)), run_of(noise(0), metric="critic/loss"))
    assert dict(comparison.not_comparable) == {
        "policy/loss": "not in the second run",
        "critic/loss": "not in the first run",
    }
    short = compare_runs(run_of(noise(0)[:3]), run_of(noise(1)[:3]))
    assert short.not_comparable == (("policy/loss", "fewer than 4 common points"),)
    clocks = compare_runs(run_of(noise(0)), run_of(noise(0), clock="env_steps"))
    assert clocks.not_comparable == (("policy/loss", "clocks differ (updates, env_steps)"),)


def test_divergences_come_in_order_of_onset() -> None:
    values = noise(0)
    late, early = values.copy(), values.copy()
    late[80:] += 1.0
    early[20:] += 1.0
    a = load({"policy/loss": values, "critic/loss": values})
    b = load({"policy/loss": late, "critic/loss": early})
    assert [d.metric for d in compare(a, b).divergences] == ["critic/loss", "policy/loss"]


def test_settings_that_differ_are_listed() -> None:
    differ = config_differences({"lr": 1e-3, "gamma": 0.99, "seed": 1}, {"lr": 1e-4, "gamma": 0.99, "n_envs": 8})
    assert differ == (("lr", 1e-3, 1e-4), ("n_envs", None, 8), ("seed", 1, None))
