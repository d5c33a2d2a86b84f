"""The two-stretch comparison and the other arithmetic that rules on reward, data and evaluation share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import synth
from firstbreak.engine import Ending, run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.rules.reward_signal import (
    ended,
    falls,
    moved,
    progress,
    rises,
    shifted,
    starts_late,
    stretches,
    together,
)
from firstbreak.runlog import RunLog
from firstbreak.stats import count_swings
from firstbreak.view import Points, RunView

NAME = "reward/train_mean"


def points(shape: synth.Shape, n: int = 120, seed: int = 0) -> Points:
    found = RunView(synth.run({NAME: shape}, n=n, seed=seed)).get(NAME)
    assert found is not None
    return found


@given(n=st.integers(2, 2000))
@settings(deadline=None, max_examples=60)
def test_stretches_are_equal_and_never_overlap(n: int) -> None:
    value = np.arange(n, dtype=np.float64)
    before, now = stretches(value)
    assert before.size == now.size <= 32
    assert before[-1] < now[0]
    assert before[0] == 0
    assert now[-1] == n - 1


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_noise_without_a_change_rarely_moves(rho: float) -> None:
    alarms = sum(abs(moved(points(synth.walk(1.0, 0.1, rho), n=60, seed=s)).z) > 5 for s in range(100))
    assert alarms <= 5


@pytest.mark.parametrize(
    "shape",
    [
        synth.ramp(1.0, 2.0, 0.03),
        synth.jump(1.0, 2.0, at=0.6),
        synth.ramp(1.0, 2.0, 0.03, until=0.1),
    ],
    ids=["ramp", "step", "inside the opening"],
)
def test_a_real_rise_is_seen_wherever_it_lies(shape: synth.Shape) -> None:
    change = moved(points(shape))
    assert change.z > 5
    assert change.difference > 0.3


def test_the_answer_does_not_depend_on_the_unit() -> None:
    step, value = np.arange(80.0), synth.ramp(1, 2, 0.1)(np.linspace(0, 1, 80), np.random.default_rng(3))
    one, thousand = shifted(step, value), shifted(step, 1000 * value)
    assert thousand.z == pytest.approx(one.z, rel=1e-6)
    assert thousand.difference == pytest.approx(1000 * one.difference, rel=1e-6)


def test_under_four_points_nothing_is_claimed() -> None:
    change = moved(points(synth.ramp(0, 1, 0.0), n=3))
    assert (change.reference, change.recent, change.z) == (0.0, 1.0, 0.0)
    assert not rises(points(synth.ramp(0, 1, 0.0), n=3))


def test_rare_successes_count_as_a_rise_although_the_median_stays() -> None:
    rare = synth.after(0.5, synth.spikes(0.0, 0.1, at=tuple(np.linspace(0.9, 1.0, 7)), noise=0.0), synth.constant(0.0))
    series = points(rare)
    assert float(np.median(series.value)) == 0.0
    assert rises(series)


def test_early_luck_at_the_floor_is_no_fall() -> None:
    assert not falls(points(synth.spikes(0.0, 0.02, at=(0.01, 0.03, 0.05), noise=0.0)))
    assert falls(points(synth.ramp(0.6, 0.3, 0.03)))


def test_together_uses_the_shared_positions_only() -> None:
    log = synth.run({"a/a": synth.ramp(0, 1, 0.0), "b/b": synth.ramp(0, -1, 0.0)}, n=30)
    view = RunView(log)
    a, b = view.get("a/a"), view.get("b/b")
    assert a is not None
    assert b is not None
    assert together(a, b) == pytest.approx(-1.0)
    assert together(a, replace(b, step=b.step + 0.5)) == 0.0


def test_swings_are_counted_at_their_turns() -> None:
    wave = np.sin(np.linspace(0, 8 * np.pi, 400))
    assert count_swings(wave, 0.9) == 9
    assert count_swings(wave, 3.0) == 0
    assert count_swings(np.linspace(0, 5, 50), 1.0) == 1


def test_progress_and_ending() -> None:
    log = synth.run({NAME: synth.flat(1)}, n=50, algorithm="GRPO", config={"total_steps": 100})
    assert progress(RunView(log)) == pytest.approx(0.5)
    assert progress(RunView(log, 25)) == pytest.approx(0.25)
    assert progress(RunView(replace(log, config={}))) is None
    assert progress(RunView(replace(log, algorithm="PPO"))) is None  # updates say nothing about environment steps
    assert ended(RunView(log))
    assert not ended(RunView(log, 25))
    assert not ended(RunView(replace(log, state="running")))


def test_a_resumed_log_starts_late() -> None:
    assert not starts_late(points(synth.flat(1)))
    late = RunView(synth.run({NAME: synth.flat(1)}, n=20)).get(NAME)
    assert late is not None
    moved_on = replace(late.source, curve=replace(late.source.curve, step=late.step + 500))
    assert starts_late(replace(late, source=moved_on, step=late.step + 500))


def sac(scale: float, **config: float) -> RunLog:
    """A SAC run whose learner sees `scale` times the logged reward from the start."""
    build = synth.like("SAC", n=20, config=config)
    return build(
        {
            "reward/episode_return_mean": synth.ramp(-1300, -1200, 0.02),
            "critic/q_mean": synth.ramp(-20 * scale, -80 * scale, 0.02),
            "critic/loss": synth.flat(0.5 * scale**2, 0.2),
        }
    )


@pytest.mark.parametrize(("scale", "fires"), [(0.01, False), (1, False), (10, False), (1000, True), (10_000, True)])
def test_only_an_impossible_scale_is_a_mismatch(scale: float, fires: bool) -> None:
    outcome = run_rules(sac(scale, gamma=0.99), [find_rule("reward-scale-mismatch")])[0]
    assert (outcome.status is Ending.FIRED) == fires


def test_an_unknown_discount_widens_the_bound() -> None:
    rule = [find_rule("reward-scale-mismatch")]
    known, unknown = run_rules(sac(10_000, gamma=0.99), rule)[0], run_rules(sac(10_000), rule)[0]
    assert known.findings[0].evidence["bound"] < unknown.findings[0].evidence["bound"]


@pytest.mark.parametrize(
    ("first", "last", "severity"), [(0.63, 0.58, Severity.INFO), (0.6, 0.1, Severity.WARNING), (0.60, 0.598, None)]
)
def test_two_evaluations_give_a_hint_unless_the_fall_is_large(
    first: float, last: float, severity: Severity | None
) -> None:
    build = synth.like("GRPO", n=2)
    log = build({NAME: synth.ramp(0.65, 0.74, 0.0), "reward/eval_mean": synth.ramp(first, last, 0.0)})
    findings = run_rules(log, [find_rule("heldout-regression")])[0].findings
    assert [f.severity for f in findings] == ([severity] if severity else [])


def test_mean_length_at_the_cap_stands_in_for_the_truncated_share() -> None:
    dead = {NAME: synth.constant(0.0), "reward/train_std": synth.constant(0.0), "optim/grad_norm": synth.constant(0.0)}
    dead["group/zero_std_fraction"] = synth.constant(1.0)
    build = synth.like("GRPO", drop=("seq/truncated_fraction",), config={"max_response_tokens": 256})
    rule = [find_rule("all-truncated")]
    assert run_rules(build(dead | {"seq/len_mean": synth.constant(256.0)}), rule)[0].status is Ending.FIRED
    assert run_rules(build(dead | {"seq/len_mean": synth.constant(250.0)}), rule)[0].status is Ending.CLEAR
