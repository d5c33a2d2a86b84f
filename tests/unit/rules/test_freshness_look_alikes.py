"""Three look-alikes of a log-prob gap, and the arithmetic of weights and update ratios."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Severity
from firstbreak.rules.data_freshness import (
    behaviour_weight_off_one,
    staleness_high,
    update_ratio_off,
    weight_sync_fault,
)
from firstbreak.rules.numerics import logprob_mismatch

GRPO = synth.like("GRPO")
RULES = (weight_sync_fault.detect, logprob_mismatch.detect, staleness_high.detect)


def fired(changes: dict[str, synth.Shape]) -> set[str]:
    return {o.rule.name for o in run_rules(GRPO(changes), RULES) if o.findings}


def test_a_flat_gap_from_the_start_is_a_mismatch() -> None:
    assert fired({"async/logprob_mismatch": synth.flat(0.15, 0.1)}) == {"logprob-mismatch"}


def test_a_gap_that_follows_the_version_lag_is_staleness() -> None:
    changes = {"async/staleness_mean": synth.ramp(2.5, 12.0), "async/logprob_mismatch": synth.ramp(0.02, 0.2)}
    assert fired(changes) == {"staleness-high"}


def test_a_gap_that_steps_up_and_stays_is_a_failed_sync() -> None:
    assert "weight-sync-fault" in fired({"async/logprob_mismatch": synth.jump(0.018, 0.201, at=0.5)})


def test_a_slow_ramp_is_not_a_failed_sync() -> None:
    assert "weight-sync-fault" not in fired({"async/logprob_mismatch": synth.ramp(0.015, 0.15)})


def test_the_step_is_dated_by_an_interval_that_holds_it() -> None:
    log = GRPO({"async/logprob_mismatch": synth.jump(0.018, 0.201, at=0.5)})
    (finding,) = run_rules(log, [weight_sync_fault.detect])[0].findings
    assert finding.onset.lo <= 60 <= finding.onset.hi + 1
    assert finding.onset.hi - finding.onset.lo < 10


@pytest.mark.parametrize(("tokens", "weight", "alarm"), [(100, 3.0, False), (100, 20.0, True), (10, 3.0, True)])
def test_sequence_weights_are_judged_by_gap_times_length(tokens: int, weight: float, alarm: bool) -> None:
    log = GRPO(
        {
            "async/logprob_mismatch": synth.constant(0.012),
            "seq/len_mean": synth.constant(float(tokens)),
            "async/behave_ratio_mean": synth.flat(weight, 0.01),
        }
    )
    assert bool(run_rules(log, [behaviour_weight_off_one.detect])[0].findings) is alarm
    assert abs(np.log(3.0)) < 2 * 0.012 * 100


@pytest.mark.parametrize(
    ("freq", "steps", "environments", "updates", "alarm"),
    [(256, 128, 1, 60_000, False), (1, 1, 1, 120_000, False), (1, -1, 8, 120_000, False), (1, 1, 1, 15_000, True)],
)
def test_updates_per_step_against_the_configuration(
    freq: int, steps: int, environments: int, updates: float, alarm: bool
) -> None:
    config = {"train_freq": freq, "gradient_steps": steps, "n_envs": environments}
    log = synth.like("SAC", clock="env_steps", step=1000.0, config=config)(
        {"optim/n_updates": synth.ramp(0, updates, 0.0)}
    )
    assert bool(run_rules(log, [update_ratio_off.detect])[0].findings) is alarm


def test_far_beyond_the_stated_bound_is_an_error() -> None:
    log = synth.like("GRPO", config={"max_staleness": 2})({"async/staleness_mean": synth.jump(1.0, 9.0, at=0.5)})
    (finding,) = run_rules(log, [staleness_high.detect])[0].findings
    assert finding.severity is Severity.ERROR
