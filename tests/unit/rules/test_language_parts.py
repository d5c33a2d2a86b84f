"""Parts of rules for language models that carry a formula: each against the plain definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.engine import Ending, run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.rules.numerics.logprob_mismatch import independent
from firstbreak.rules.policy_update.accumulation_window_mismatch import windows
from firstbreak.rules.reward_signal.rm_overoptimisation import peak_of_law
from firstbreak.runlog import RunLog
from firstbreak.view import Points, RunView

GRPO = synth.like("GRPO")
GAP, LAG = "async/logprob_mismatch", "async/staleness_mean"


def points(view: RunView, name: str) -> Points:
    found = view.get(name)
    assert found is not None
    return found


def swinging(base: float, swing: float) -> synth.Shape:
    return lambda t, rng: base + swing * np.sin(97 * t)


@pytest.mark.parametrize(("a", "b"), [(2.0, 1.2), (1.0, 0.8), (0.5, 0.9)])
def test_the_fitted_law_peaks_where_its_own_curve_does(a: float, b: float) -> None:
    top = math.exp(a / b - 1)

    def kl(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return (0.05 + 2 * top * t) ** 2

    def gold(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        d = np.sqrt(kl(t, rng))
        return 3.0 + d * (a - b * np.log(d))

    view = RunView(synth.run({"policy/kl_ref": kl, "reward/eval_mean": gold}, n=400))
    drift, score = points(view, "policy/kl_ref"), points(view, "reward/eval_mean")
    found = peak_of_law(drift, score)
    assert found == pytest.approx(top**2, rel=1e-6)
    assert found == pytest.approx(drift.value[int(np.argmax(score.value))], rel=0.03)


def test_a_score_that_only_rises_has_no_peak() -> None:
    view = RunView(synth.run({"policy/kl_ref": synth.ramp(0.01, 1, 0), "reward/eval_mean": synth.ramp(0, 1, 0)}))
    assert math.isnan(peak_of_law(points(view, "policy/kl_ref"), points(view, "reward/eval_mean")))


def test_a_gap_is_independent_of_a_lag_that_it_does_not_follow() -> None:
    def answer(gap: synth.Shape, lag: synth.Shape) -> bool:
        view = RunView(GRPO({GAP: gap, LAG: lag}))
        return independent(points(view, GAP), points(view, LAG))

    assert answer(synth.flat(0.08, 0.05), swinging(4, 3))
    assert not answer(swinging(0.08, 0.05), swinging(4, 3))
    assert not answer(synth.flat(0.08, 0.05), synth.constant(3.0))


def test_windows_are_read_of_the_run_and_of_every_stated_group_of_settings() -> None:
    config = {"gradient_accumulation": 2, "steps_per_generation": 4}
    config |= {"b.steps_per_generation": 8, "b.gradient_accumulation_steps": 32, "c.steps_per_generation": 3}
    assert windows(RunView(synth.like("GRPO", config=config)({}))) == [(2, 4), (32, 8)]


THREE: dict[str, tuple[RunLog, str, str]] = {
    "precision": (GRPO({GAP: synth.flat(0.09, 0.05), LAG: swinging(4, 3)}), "logprob-mismatch", "numerics"),
    "staleness": (GRPO({GAP: swinging(0.08, 0.06), LAG: swinging(4, 3)}), "mismatch-follows-lag", "data_freshness"),
    "sync": (GRPO({GAP: synth.jump(0.015, 0.3), LAG: synth.flat(1.0, 0.1)}), "weight-sync-fault", "data_freshness"),
}


@pytest.mark.parametrize("kind", sorted(THREE))
def test_three_gaps_that_look_alike_are_told_apart(kind: str) -> None:
    log, rule, link = THREE[kind]
    diagnosis = diagnose_log(log, Settings())
    cause = {"precision": "trainer-sampler-mismatch", "staleness": "stale-rollouts", "sync": "weights-not-synchronised"}
    assert diagnosis.causes[0].name == cause[kind]
    assert diagnosis.causes[0].link.value == link
    fired = {f.name for f in diagnosis.findings if f.severity is not Severity.INFO}
    assert rule in fired
    others = {r for _, r, _ in THREE.values()} - {rule}
    assert all(run_rules(log, [find_rule(o)])[0].status is not Ending.FIRED or o == "logprob-mismatch" for o in others)


def test_silent_groups_are_split_into_right_and_wrong() -> None:
    dead = {"group/zero_std_fraction": synth.constant(1.0), "group/none_solved_fraction": synth.constant(0.9)}
    dead |= {"group/all_solved_fraction": synth.constant(0.1), "reward/train_mean": synth.jump(0.6, 0.1)}
    (outcome,) = run_rules(GRPO(dead), [find_rule("zero-std-groups")])
    assert "10% all right, 90% all wrong" in outcome.findings[0].message


def test_an_error_of_silent_groups_begins_where_no_signal_is_left() -> None:
    # Ever more groups are solved, which is no fault; at four fifths of the run all of them fail at once.
    dead = {"group/zero_std_fraction": synth.clipped(synth.after(0.8, synth.constant(1), synth.ramp(0.1, 0.8)), 0, 1)}
    dead |= {"reward/train_mean": synth.after(0.8, synth.constant(0.0), synth.ramp(0.1, 0.8, 0.02))}
    (outcome,) = run_rules(GRPO(dead), [find_rule("zero-std-groups")])
    (finding,) = outcome.findings
    assert finding.severity is Severity.ERROR
    assert finding.onset.hi - finding.onset.lo <= 1
    assert 94 <= finding.onset.lo <= 98  # of 120 rows


def test_a_part_that_all_answers_earn_in_full_is_not_redefined() -> None:
    """Its spread vanishes because its mean is at its best; a part that falls silent lower down is another matter."""
    spread = synth.clipped(synth.after(0.6, synth.constant(0.0), synth.flat(0.15, 0.1)), 0, 1)
    for level, status in ((1.0, Ending.CLEAR), (0.5, Ending.FIRED)):
        mean = synth.clipped(synth.after(0.6, synth.constant(level), synth.flat(0.96, 0.03)), 0, 1)
        log = GRPO({"reward/component@format": mean, "reward/component_std@format": spread})
        (outcome,) = run_rules(log, [find_rule("reward-redefined")])
        assert outcome.status is status
