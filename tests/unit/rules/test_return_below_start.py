"""What a policy is sure of convicts the reward only where it became surer after the return was at its best."""

from __future__ import annotations

import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.synth import Shape

RETURN, ENTROPY = "reward/episode_return_mean", "policy/entropy"
LOST = synth.after(0.6, synth.flat(5, 0.1), synth.ramp(20, 60, 0.05, until=0.5))
SURER = synth.ramp(0.69, 0.1, 0.02)
LESS_SURE = synth.after(0.6, synth.flat(0.25, 0.02), synth.ramp(0.69, 0.1, until=0.5))


@pytest.mark.parametrize(("entropy", "severity"), [(SURER, Severity.ERROR), (LESS_SURE, Severity.WARNING)])
def test_a_gain_that_was_lost_in_doubt_is_no_error(entropy: Shape, severity: Severity) -> None:
    run = synth.like("PPO")({RETURN: LOST, ENTROPY: entropy})
    (outcome,) = run_rules(run, [find_rule("return-below-start")])
    assert [found.severity for found in outcome.findings] == [severity]
