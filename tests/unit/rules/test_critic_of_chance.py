"""`critic-ignores-state`: what makes it a note, where rewards are luck, a warning and an error."""

from __future__ import annotations

import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.rules.critic.critic_ignores_state import spans

SAME = synth.flat(0.01, 0.2)


@pytest.mark.parametrize(
    ("ratio", "scatter", "severity"),
    [
        (SAME, 4.0, Severity.INFO),  # errs by 3, and single rewards scatter by more
        (SAME, 1.0, Severity.WARNING),
        (SAME, None, Severity.WARNING),  # how rewards scatter is not known
        (synth.after(0.6, SAME, synth.flat(9.0, 0.2)), 4.0, Severity.ERROR),  # it told states apart before
    ],
    ids=["luck", "more than luck", "unknown", "once"],
)
def test_a_critic_that_tells_no_states_apart(ratio: synth.Shape, scatter: float | None, severity: Severity) -> None:
    paid = {} if scatter is None else {"reward/env_std": synth.flat(scatter, 0.05)}
    (outcome,) = run_rules(synth.like("DQN")(spans(ratio) | paid), [find_rule("critic-ignores-state")])
    assert [finding.severity for finding in outcome.findings] == [severity]
