"""A return that stands still, or falls steadily, alone, points to no link and leaves the run undecided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firstbreak import synth
from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.engine import run_rules
from firstbreak.finding import Finding, Onset, Severity
from firstbreak.reasoning import reason
from firstbreak.registry import all_rules
from firstbreak.runlog import RunLog
from firstbreak.unlocated import FALLING, FLAT, LATE, RANDOM, UNPLACED, UNPLACED_FALLING, UNPLACED_RANDOM, unlocated

PLANNED = {"total_steps": 120}
RETURN = "reward/episode_return_mean"
STILL = {RETURN: synth.walk(21, 1.5, rho=0.3)}


def log(algorithm: str) -> RunLog:
    still = STILL | ({"reward/train_mean": STILL[RETURN]} if algorithm == "GRPO" else {})
    return synth.like(algorithm, config=PLANNED, clock="env_steps")(still)


def finding(name: str, severity: Severity = Severity.WARNING) -> Finding:
    rule = next(one for one in all_rules() if one.name == name)
    return Finding(
        rule=rule.code, name=name, link=rule.link, component=rule.component, severity=severity,
        onset=Onset(0.0, 0.0, "env_steps"), message="1", metric=RETURN,
    )  # fmt: skip


def say(run: RunLog) -> Diagnosis:
    return reason(run, run_rules(run, [r for r in all_rules() if r.name == FLAT]))


@pytest.mark.parametrize("algorithm", ["SAC", "PPO", "GRPO"])
def test_a_return_that_stands_still_names_no_link_and_leaves_the_run_undecided(algorithm: str) -> None:
    found = say(log(algorithm))
    assert [(f.name, f.severity) for f in found.findings] == [(FLAT, Severity.INFO)]
    assert found.verdict is Verdict.UNDECIDED
    assert found.first_break is None
    assert UNPLACED in found.coverage.withheld


def test_a_return_that_falls_steadily_names_no_link_and_leaves_the_run_undecided() -> None:
    run = synth.like("PPO")({RETURN: synth.ramp(-100, -600, 0.03)})
    found = reason(run, run_rules(run, all_rules()))
    assert [f.severity for f in found.findings if f.name == FALLING] == [Severity.INFO]
    assert found.verdict is Verdict.UNDECIDED
    assert UNPLACED_FALLING in found.coverage.withheld


def test_a_return_that_fell_and_came_back_keeps_nothing_from_being_called_healthy() -> None:
    falls = finding(FALLING, Severity.INFO)
    assert unlocated([falls], log("PPO")) == ([falls], (UNPLACED_FALLING,))
    for past in (replace(falls, resolved_at=9.0), replace(falls, ignored="known")):
        assert unlocated([past], log("PPO")) == ([past], ())
    assert unlocated([falls, finding("policy-frozen")], log("PPO"))[1] == ()


def test_before_half_of_the_steps_it_keeps_nothing_from_being_called_healthy() -> None:
    young = [replace(finding(FLAT, Severity.INFO), evidence={LATE: late}) for late in (False, True)]
    assert unlocated(young[:1], log("PPO")) == (young[:1], ())
    assert unlocated(young[1:], log("PPO")) == (young[1:], (UNPLACED,))


def test_beside_entropy_that_stands_still_both_are_notes() -> None:
    both = [finding(FLAT), finding(RANDOM)]
    calm, signs = unlocated(both, log("PPO"))
    assert {f.severity for f in calm} == {Severity.INFO}
    assert signs == (UNPLACED_RANDOM,)
    assert unlocated(both, synth.like("GRPO")({})) == (both, ())


def test_beside_anything_else_it_keeps_its_weight() -> None:
    note = replace(finding(FLAT, Severity.INFO), evidence={LATE: True})
    for other in ("twin-q-apart", "policy-frozen"):
        there = [note, finding(other)]
        assert unlocated(there, log("SAC")) == (there, ())


def test_the_rule_says_whether_half_of_the_steps_had_passed() -> None:
    (late,) = say(log("SAC")).findings
    (early,) = say(synth.like("PPO")(STILL)).findings
    assert (late.evidence[LATE], early.evidence[LATE]) == (True, False)
