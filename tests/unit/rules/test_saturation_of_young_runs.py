"""`action-saturation` while the mean over a hundred episodes falls: because of it, or of what was before?"""

from __future__ import annotations

import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule

SINKS = synth.ramp(-4, -8, 0.05)
MEAN = synth.ramp(-800, -1300, 0.01)


@pytest.mark.parametrize(
    ("since", "severity"),
    [(synth.flat(-6.5, 0.05), Severity.INFO), (synth.flat(-12.0, 0.05), Severity.WARNING)],
)
def test_a_mean_that_falls_is_a_harm_only_where_single_steps_earn_less_than_before(
    since: synth.Shape, severity: Severity
) -> None:
    log = synth.like("SAC")(
        {
            "policy/saturation_frac": synth.jump(0.05, 0.9, 0.88, 0.03),
            "reward/env_mean": synth.after(0.86, since, SINKS),
            "reward/episode_return_mean": MEAN,
        }
    )
    (outcome,) = run_rules(log, [find_rule("action-saturation")])
    assert [f.severity for f in outcome.findings] == [severity]
