"""Synthetic runs: seeded, shaped as named, healthy where they say so."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.runlog import RunLog
from firstbreak.vocabulary import algorithms, metrics

T = np.linspace(0, 1, 200)


def drawn(shape: synth.Shape, seed: int = 0) -> np.ndarray:
    return shape(T, np.random.default_rng(seed))


def values(log: RunLog, metric: str) -> np.ndarray:
    series = log.get(metric)
    assert series is not None
    return series.value


@pytest.mark.parametrize(
    ("shape", "early", "late"),
    [
        (synth.flat(5.0, 0.0), 5.0, 5.0),
        (synth.ramp(0.0, 10.0, 0.0, begin=0.5), 0.0, 10.0),
        (synth.jump(1.0, 3.0, at=0.3, noise=0.0), 1.0, 3.0),
        (synth.geometric(1.0, 100.0, 0.0), 1.0, 100.0),
        (synth.after(0.5, synth.constant(2.0), synth.constant(1.0)), 1.0, 2.0),
        (synth.clipped(synth.ramp(-5, 5, 0.0), 0, 1), 0.0, 1.0),
    ],
)
def test_a_shape_starts_and_ends_where_it_says(shape: synth.Shape, early: float, late: float) -> None:
    got = drawn(shape)
    assert got[0] == pytest.approx(early)
    assert got[-1] == pytest.approx(late)


def test_spikes_are_single_points() -> None:
    got = drawn(synth.spikes(1.0, 50.0, at=(0.25, 0.75), noise=0.01))
    assert np.flatnonzero(got > 10).tolist() == [50, 149]


def test_a_walk_has_its_spread_and_correlation() -> None:
    got = synth.walk(3.0, 2.0, rho=0.8)(np.linspace(0, 1, 20000), np.random.default_rng(0))
    assert got.mean() == pytest.approx(3, abs=0.3)
    assert got.std() == pytest.approx(2, rel=0.1)
    assert np.corrcoef(got[:-1], got[1:])[0, 1] == pytest.approx(0.8, abs=0.05)


def test_equal_seeds_give_equal_runs_and_others_do_not() -> None:
    first, again, other = (synth.like("PPO", seed=s)() for s in (1, 1, 2))
    np.testing.assert_array_equal(values(first, "policy/loss"), values(again, "policy/loss"))
    assert not np.array_equal(values(first, "policy/loss"), values(other, "policy/loss"))


def test_like_replaces_adds_and_drops() -> None:
    log = synth.like("SAC", drop=("time/fps",), n=50, config={"gamma": 0.9})({"sac/alpha": synth.constant(7.0)})
    assert log.get("time/fps") is None
    assert values(log, "sac/alpha").tolist() == [7.0] * 50
    assert (log.algorithm, log.config["gamma"]) == ("SAC", 0.9)


def test_a_member_of_a_family_gets_its_scope() -> None:
    log = synth.run({"reward/component@format": synth.constant(1.0)})
    assert [s.component for s in log.scopes("reward/component")] == ["format"]


@pytest.mark.parametrize("algorithm", sorted(synth.HEALTHY))
def test_healthy_runs_use_known_metrics_inside_their_bounds(algorithm: str) -> None:
    assert algorithm in algorithms()
    for series in synth.like(algorithm)().series:
        spec = metrics()[series.metric]
        assert spec.lo <= series.value.min() <= series.value.max() <= spec.hi
