"""Which metric is named as the first that is not finite, and what is not held against a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Finding, Severity
from firstbreak.rules.numerics import grad_norm_explosion, grad_norm_zero, metrics_frozen, nonfinite_metric
from firstbreak.runlog import RunLog

NAN, INF = float("nan"), float("inf")
PPO = synth.like("PPO")
GRPO = synth.like("GRPO")


def found(log: RunLog) -> list[Finding]:
    return list(run_rules(log, [nonfinite_metric.detect])[0].findings)


def turns(at: float, value: float = NAN) -> synth.Shape:
    return synth.after(at, synth.constant(value), synth.flat(0.5))


def test_the_earliest_metric_is_named() -> None:
    (finding,) = found(PPO({"optim/grad_norm": turns(0.4), "policy/loss": turns(0.6)}))
    assert finding.metric == "optim/grad_norm"


def test_ties_go_by_the_order_of_computation() -> None:
    (finding,) = found(PPO({"optim/grad_norm": turns(0.5), "policy/loss": turns(0.5), "policy/kl_old": turns(0.5)}))
    assert finding.metric == "policy/kl_old"
    assert finding.evidence["metrics"] == 3
    assert finding.severity is Severity.ERROR


def test_the_onset_lies_between_the_last_finite_point_and_the_first_that_is_not() -> None:
    (finding,) = found(PPO({"policy/loss": turns(0.5)}))
    assert finding.onset.hi - finding.onset.lo == 1
    assert finding.onset.hi == 61


def test_infinity_is_told_from_nan() -> None:
    assert "infinite" in found(PPO({"policy/kl_old": turns(0.5, INF)}))[0].message
    assert "NaN" in found(PPO({"policy/kl_old": turns(0.5)}))[0].message


@pytest.mark.parametrize(
    "metric", ["critic/explained_variance", "reward/episode_return_mean", "episode/success_rate", "advantage/std"]
)
def test_what_is_undefined_at_times_is_not_a_fault(metric: str) -> None:
    assert found(PPO({metric: turns(0.5)})) == []


def test_one_gap_that_closes_is_a_warning() -> None:
    gap = synth.spikes(-0.01, NAN, at=(0.5,))
    (finding,) = found(PPO({"policy/loss": gap}))
    assert finding.severity is Severity.WARNING
    ending = synth.after(0.995, synth.constant(NAN), synth.flat(-0.01))
    assert [f.severity for f in found(PPO({"policy/loss": ending}))] == [Severity.ERROR]
    live = replace(PPO({"policy/loss": ending}), state="running")
    assert [f.severity for f in found(live)] == [Severity.WARNING]


def test_rare_infinite_gradients_under_a_loss_scaler_are_by_design() -> None:
    changes = {"optim/grad_norm": synth.spikes(0.6, INF, at=(0.2, 0.7))}
    assert found(PPO(changes | {"optim/loss_scale": synth.constant(65536.0)})) == []
    assert found(PPO(changes)) != []


def test_a_single_wild_gradient_is_not_an_explosion() -> None:
    spiky = PPO({"optim/grad_norm": synth.spikes(0.6, 500.0, at=(0.3, 0.6, 0.9), noise=0.2)})
    lasting = PPO({"optim/grad_norm": synth.jump(0.6, 500.0, at=0.5)})
    assert not run_rules(spiky, [grad_norm_explosion.detect])[0].findings
    (finding,) = run_rules(lasting, [grad_norm_explosion.detect])[0].findings
    assert finding.severity is Severity.ERROR
    assert finding.onset.lo <= 61 <= finding.onset.hi + 1


def test_gradients_near_zero_in_a_solved_run_do_not_explode() -> None:
    solved = GRPO({"optim/grad_norm": synth.after(0.4, synth.spikes(0.002, 5.0, at=(0.6, 0.8)), synth.flat(0.5, 0.2))})
    assert not run_rules(solved, [grad_norm_explosion.detect])[0].findings


def test_a_zero_gradient_is_excused_by_silent_groups_only() -> None:
    zero = {"optim/grad_norm": synth.after(0.5, synth.constant(0.0), synth.flat(0.5, 0.1))}
    silent = {"group/zero_std_fraction": synth.after(0.5, synth.constant(1.0), synth.flat(0.3, 0.1))}
    assert run_rules(GRPO(zero), [grad_norm_zero.detect])[0].findings
    assert not run_rules(GRPO(zero | silent), [grad_norm_zero.detect])[0].findings


def test_frozen_metrics_need_a_reward_that_moves() -> None:
    names = ("policy/loss", "critic/loss", "policy/kl_old", "policy/entropy", "optim/grad_norm")
    frozen = {name: synth.constant(0.25) for name in names}
    assert run_rules(PPO(frozen), [metrics_frozen.detect])[0].findings
    still = frozen | {"reward/episode_return_mean": synth.constant(9.0)}
    assert not run_rules(PPO(still), [metrics_frozen.detect])[0].findings
