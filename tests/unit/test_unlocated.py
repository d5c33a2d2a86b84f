"""A return that stands still, alone, points to no link and leaves the run undecided."""

from __future__ import annotations

from firstbreak import synth
from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.engine import run_rules
from firstbreak.finding import Finding, Link, Onset, Severity
from firstbreak.reasoning import reason
from firstbreak.registry import all_rules
from firstbreak.runlog import RunLog
from firstbreak.unlocated import FLAT, RANDOM, UNPLACED, UNPLACED_RANDOM, unlocated

PLANNED = {"total_steps": 120}
STILL = {"reward/episode_return_mean": synth.walk(21, 1.5, rho=0.3)}


def log(algorithm: str) -> RunLog:
    return synth.like(algorithm, config=PLANNED, clock="env_steps")(STILL)


def finding(name: str, severity: Severity = Severity.WARNING) -> Finding:
    rule = next(one for one in all_rules() if one.name == name)
    return Finding(
        rule=rule.code, name=name, link=rule.link, component=rule.component, severity=severity,
        onset=Onset(0.0, 0.0, "env_steps"), message="1", metric="reward/episode_return_mean",
    )  # fmt: skip


def say(run: RunLog) -> Diagnosis:
    return reason(run, run_rules(run, [r for r in all_rules() if r.name == FLAT]))


def test_of_a_learner_from_replayed_data_it_names_no_link_and_leaves_the_run_undecided() -> None:
    found = say(log("SAC"))
    assert [(f.name, f.severity) for f in found.findings] == [(FLAT, Severity.INFO)]
    assert found.verdict is Verdict.UNDECIDED
    assert not found.causes
    assert UNPLACED in found.coverage.withheld
    assert found.confirm_with, "what would decide it"


def test_of_other_learners_it_stays_a_warning_alone_and_not_beside_entropy_that_stands_still() -> None:
    alone, both = [finding(FLAT)], [finding(FLAT), finding(RANDOM)]
    assert unlocated(alone, log("PPO")) == (alone, ())
    calm, signs = unlocated(both, log("PPO"))
    assert {f.severity for f in calm} == {Severity.INFO}
    assert signs == (UNPLACED_RANDOM,)
    language = synth.like("GRPO")({})
    assert unlocated(both, language) == (both, ())


def test_beside_anything_else_it_keeps_its_weight() -> None:
    for other in ("twin-q-apart", "policy-frozen"):
        there = [finding(FLAT), finding(other)]
        assert unlocated(there, log("SAC")) == (there, ())
    assert finding("twin-q-apart").link is Link.CRITIC
