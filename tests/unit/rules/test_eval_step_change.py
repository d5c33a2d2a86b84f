"""A jump of the evaluation is a warning only at an event that may have changed the evaluation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Severity
from firstbreak.registry import all_rules
from firstbreak.rules.evaluation_protocol.eval_step_change import JUMP
from firstbreak.runlog import Event


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("resume", Severity.WARNING),
        ("restart", Severity.WARNING),
        ("eval_protocol", Severity.WARNING),
        ("alarm", Severity.INFO),
        ("checkpoint", Severity.INFO),
        ("eval", Severity.INFO),
        ("finished", Severity.INFO),
    ],
)
def test_only_what_may_change_the_evaluation_marks_its_jump(name: str, severity: Severity) -> None:
    log = synth.like("PPO")(JUMP)
    score = log.get("reward/eval_return_mean")
    assert score is not None
    middle = float(score.step[len(score) // 2])
    rules = [rule for rule in all_rules() if rule.name == "eval-step-change"]
    (outcome,) = run_rules(replace(log, events=(Event(name, middle),)), rules)
    (finding,) = outcome.findings
    assert finding.severity is severity
