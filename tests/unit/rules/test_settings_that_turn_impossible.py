"""A setting in force that was possible and becomes impossible is named by its own link's rule, at once."""

from __future__ import annotations

import pytest

from firstbreak import synth
from firstbreak.api import diagnose
from firstbreak.finding import Severity

SAC = synth.like("SAC")
RATE, CRITIC_RATE, ALPHA = "optim/lr", "optim/critic_lr", "sac/alpha"
TURNS = synth.ramp(3e-4, -1e-6, 0.0)
"""Below 0 in the last row alone."""


def found(log) -> dict[str, Severity]:
    return {finding.name: finding.severity for finding in diagnose(log).findings}


@pytest.mark.parametrize(("planned", "severity"), [(240, Severity.ERROR), (120, Severity.INFO)])
def test_a_rate_below_0_in_the_newest_row_is_past_a_schedule_only_where_the_plan_ends(planned, severity):
    log = synth.like("PPO", config={"total_steps": planned}, clock="env_steps")({RATE: TURNS})
    assert found(log)["lr-schedule-fault"] is severity


@pytest.mark.parametrize(
    ("metric", "rule", "usual"),
    [(CRITIC_RATE, "critic-lr-schedule-fault", 3e-4), (ALPHA, "entropy-coefficient-jumps", 0.05)],
)
def test_what_turns_is_told_by_its_link_and_what_never_was_possible_by_the_rule_on_logs(metric, rule, usual):
    turned = found(SAC({metric: synth.jump(usual, -usual, at=0.5, noise=0.0)}))
    assert rule in turned
    assert "impossible-value" not in turned
    always = found(SAC({metric: synth.constant(-usual)}))
    assert "impossible-value" in always
