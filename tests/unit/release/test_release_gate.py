"""The rules of the gate, one by one: on complete evidence each is good, and one change turns one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.context.comparing import Difference
from firstbreak.context.contents import Code, Context
from firstbreak.diagnosis import Verdict
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.release.evidence import UNKNOWN, Evidence, Line, Looks, Odd, Results, Selection
from firstbreak.release.gate import RULES, judge
from firstbreak.release.ruling import Outcome, Ruled, decide

from .conftest import change, clear_samples, healthy, some_run, span


def ruled(evidence: Evidence, name: str) -> Ruled:
    return next(ruling.ruled for rule, ruling in judge(evidence) if rule.name == name)


def with_run(evidence: Evidence, index: int = 0, **changes: Any) -> Evidence:
    runs = list(evidence.runs)
    runs[index] = replace(runs[index], **changes)
    return replace(evidence, runs=tuple(runs))


def with_group(evidence: Evidence, **changes: Any) -> Evidence:
    return replace(evidence, results=Results((replace(evidence.results.groups[0], **changes),)))


def finding(severity: Severity) -> Finding:
    return Finding("X", "some-hack", Link.REWARD_SIGNAL, Component.REWARD, severity, Onset(0, 0), "seen", "reward")


def audited(evidence: Evidence, verdict: Verdict, severity: Severity) -> Evidence:
    return replace(evidence, samples=replace(clear_samples(verdict), findings=(finding(severity),)))


BROKEN = replace(healthy(), verdict=Verdict.BROKEN)
NOWHERE = Context("now", ("python",), code=Code(reason="no git"))
ODD = (Odd("run1", "run0", (Difference("setting", "lr", 1, 2, 0.9),)),)

TABLE: list[tuple[str, str, Callable[[Evidence], Evidence], Ruled]] = [
    ("context-recorded", "no record", lambda e: with_run(e, context=None), Ruled.MISSING),
    ("context-recorded", "no commit", lambda e: with_run(e, context=NOWHERE), Ruled.MISSING),
    ("runs-finished", "one died", lambda e: with_run(e, crashed=True), Ruled.MISSING),
    ("runs-finished", "still going", lambda e: with_run(e, ended="running"), Ruled.MISSING),
    ("runs-finished", "its log does not tell", lambda e: with_run(e, ended=""), Ruled.MISSING),
    ("runs-finished", "most died",
     lambda e: replace(e, runs=tuple(replace(r, crashed=True) for r in e.runs)), Ruled.BAD),
    ("runs-healthy", "one broken", lambda e: with_run(e, diagnosis=BROKEN), Ruled.BAD),
    ("one-protocol", "unknown", lambda e: with_run(e, protocol=UNKNOWN), Ruled.MISSING),
    ("one-protocol", "another", lambda e: with_run(e, protocol="p2"), Ruled.MISSING),
    ("one-protocol", "another task", lambda e: with_run(e, protocol="p2", task="Pendulum-v1"), Ruled.GOOD),
    ("one-protocol", "private set", lambda e: replace(e, private_protocols=("p", "q")), Ruled.MISSING),
    ("one-protocol", "private set, one side", lambda e: replace(e, private_protocols=("p", UNKNOWN)), Ruled.MISSING),
    ("one-protocol", "private set, neither", lambda e: replace(e, private_protocols=(UNKNOWN,)), Ruled.MISSING),
    ("one-protocol", "private set, one of its own", lambda e: replace(e, private_protocols=("q",)), Ruled.GOOD),
    ("one-protocol", "settings against it", lambda e: with_run(e, doubt="it says 0, the run 1"), Ruled.MISSING),
    ("one-protocol", "settings of the baseline against it",
     lambda e: replace(e, baseline=(some_run(7, doubt="it says 0, the run 1"),)), Ruled.MISSING),
    ("one-protocol", "fresh seeds", lambda e: replace(e, selection=replace(e.selection, apart="no")), Ruled.MISSING),
    ("selection-corrected", "another protocol",
     lambda e: replace(e, selection=replace(e.selection, apart="run0 was scored again under q")), Ruled.MISSING),
    ("seeds-distinct", "unknown", lambda e: with_run(e, seed=""), Ruled.MISSING),
    ("seeds-distinct", "twice", lambda e: with_run(e, seed="1"), Ruled.MISSING),
    ("seeds-distinct", "same curve",
     lambda e: with_run(e, score=e.runs[1].score, reward=e.runs[1].reward), Ruled.MISSING),
    ("seeds-distinct", "tied scores", lambda e: with_run(e, score=np.full(3, 9.0)), Ruled.GOOD),
    ("one-setting", "another lr", lambda e: replace(e, odd=ODD), Ruled.MISSING),
    ("one-setting", "one run", lambda e: replace(e, runs=e.runs[:1]), Ruled.NOT_ASKED),
    ("one-setting", "no settings", lambda e: with_run(e, context=None), Ruled.MISSING),
    ("enough-seeds", "four", lambda e: with_group(e, runs=e.results.groups[0].runs[:4]), Ruled.MISSING),
    ("enough-seeds", "one", lambda e: with_group(e, runs=e.results.groups[0].runs[:1]), Ruled.MISSING),
    ("enough-seeds", "no evaluation", lambda e: replace(e, results=Results()), Ruled.MISSING),
    ("selection-corrected", "none", lambda e: replace(e, selection=Selection(evaluations=9)), Ruled.MISSING),
    ("selection-corrected", "one", lambda e: replace(e, selection=Selection(("run0",), (9.0,), (8.0,))), Ruled.MISSING),
    ("selection-corrected", "not alike", lambda e: replace(e, selection=replace(e.selection, gain=span(-9, -11, -7))),
     Ruled.MISSING),
    ("selection-corrected", "luck", lambda e: replace(e, selection=replace(e.selection, gain=span(9, 7, 11))),
     Ruled.GOOD),
    ("selection-corrected", "some", lambda e: replace(e, runs=(*e.runs, some_run(9))), Ruled.MISSING),
    ("better-than-baseline", "not given", lambda e: e, Ruled.NOT_ASKED),
    ("better-than-baseline", "not comparable", lambda e: replace(e, baseline=(some_run(7),)), Ruled.MISSING),
    ("better-than-baseline", "better",
     lambda e: replace(with_group(e, improvement=span(0.9, 0.7, 1)), baseline=e.runs), Ruled.GOOD),
    ("better-than-baseline", "cannot tell",
     lambda e: replace(with_group(e, improvement=span(0.6, 0.4, 0.8)), baseline=e.runs), Ruled.MISSING),
    ("better-than-baseline", "worse",
     lambda e: replace(with_group(e, improvement=span(0.2, 0.1, 0.4)), baseline=e.runs), Ruled.BAD),
    ("private-set-unspoiled", "no ledger", lambda e: replace(e, looks=None), Ruled.MISSING),
    ("private-set-unspoiled", "as allowed", lambda e: replace(e, looks=Looks(2, 2)), Ruled.GOOD),
    ("private-set-unspoiled", "no look", lambda e: replace(e, looks=Looks(0, 2)), Ruled.MISSING),
    ("private-set-unspoiled", "worn out", lambda e: replace(e, looks=Looks(3, 2)), Ruled.MISSING),
    ("private-set-unspoiled", "a look under the same protocol",
     lambda e: replace(e, looks=Looks(2, 2, protocols=("q", "p"))), Ruled.GOOD),
    ("private-set-unspoiled", "looks under another protocol",
     lambda e: replace(e, looks=Looks(1, 2, protocols=("q",))), Ruled.MISSING),
    ("private-set-unspoiled", "edited", lambda e: replace(e, looks=Looks(1, 2, ("entry 1",))), Ruled.BAD),
    ("samples-audited", "none", lambda e: replace(e, samples=None), Ruled.MISSING),
    ("samples-audited", "a hack", lambda e: audited(e, Verdict.BROKEN, Severity.ERROR), Ruled.BAD),
    ("samples-audited", "a warning", lambda e: audited(e, Verdict.UNDECIDED, Severity.WARNING), Ruled.MISSING),
    ("samples-audited", "checks were blind",
     lambda e: replace(e, samples=clear_samples(Verdict.UNDECIDED)), Ruled.MISSING),
    ("samples-audited", "a note", lambda e: audited(e, Verdict.HEALTHY, Severity.INFO), Ruled.GOOD),
    ("samples-audited", "nothing looked",
     lambda e: replace(e, samples=replace(clear_samples(), clear=())), Ruled.MISSING),
    ("checkpoints-kept", "no last", lambda e: replace(e, checkpoints=e.checkpoints[:-1]), Ruled.MISSING),
    ("checkpoints-kept", "no hash",
     lambda e: replace(e, checkpoints=(replace(e.checkpoints[0], sha256=""), *e.checkpoints[1:])), Ruled.MISSING),
    ("failures-kept", "none failed", lambda e: e, Ruled.NOT_ASKED),
    ("failures-kept", "not kept", lambda e: with_run(e, crashed=True), Ruled.MISSING),
    ("failures-kept", "kept", lambda e: replace(
        with_run(e, crashed=True), checkpoints=(replace(e.checkpoints[0], role="failed"),)), Ruled.GOOD),
    ("looked-before", "nothing", lambda e: replace(e, before=()), Ruled.MISSING),
    ("looked-before", "a row", lambda e: replace(e, before=(Line("a", "Q?", "missing", "-", (), "x"),)), Ruled.MISSING),
    ("looked-before", "failed", lambda e: replace(e, before=(Line("a", "Q?", "failed", "-"),)), Ruled.BAD),
    ("watched-during", "not needed", lambda e: replace(e, during=(Line("a", "Q?", "not needed", "-"),)), Ruled.GOOD),
    ("watched-during", "failed", lambda e: replace(e, during=(Line("a", "Q?", "failed", "-"),)), Ruled.BAD),
]  # fmt: skip


@pytest.mark.parametrize(("name", "case", "make", "wanted"), TABLE, ids=[f"{t[0]}: {t[1]}" for t in TABLE])
def test_each_rule_answers_its_question(
    complete: Evidence, name: str, case: str, make: Callable[[Evidence], Evidence], wanted: Ruled
) -> None:
    changed = make(complete)
    assert ruled(changed, name) is wanted
    rulings = {rule.name: ruling for rule, ruling in judge(changed)}
    assert bool(rulings[name].give) == (wanted is Ruled.MISSING)
    expected = {Ruled.BAD: Outcome.NO_GO, Ruled.MISSING: Outcome.UNDECIDED}
    if wanted in expected:
        others = [r.ruled for r in rulings.values()]
        assert decide(others) is (Outcome.NO_GO if Ruled.BAD in others else expected[wanted])


def test_every_rule_is_tried_and_turns_somewhere() -> None:
    tried = {name for name, _, _, wanted in TABLE if wanted in (Ruled.BAD, Ruled.MISSING)}
    assert {rule.name for rule in RULES} - {"reward-and-private-set"} == tried
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_complete_evidence_goes(complete: Evidence) -> None:
    assert decide(ruling.ruled for _, ruling in judge(complete)) is Outcome.GO


WALKTHROUGH = {
    ("up", "up"): Ruled.GOOD,
    ("down", "up"): Ruled.GOOD,  # the earlier reward was probably wrong
    ("unclear", "up"): Ruled.GOOD,
    (None, "up"): Ruled.GOOD,
    ("up", "down"): Ruled.BAD,  # the reward is gamed
    ("down", "down"): Ruled.BAD,
    ("unclear", "down"): Ruled.BAD,
    ("up", "unclear"): Ruled.MISSING,
    ("down", "unclear"): Ruled.MISSING,
    ("unclear", "unclear"): Ruled.MISSING,
    ("up", None): Ruled.MISSING,
    (None, None): Ruled.MISSING,
}
"""(training reward, private set) -> ruling."""


@pytest.mark.parametrize(("reward", "private"), WALKTHROUGH)
def test_the_walkthrough(complete: Evidence, reward: str | None, private: str | None) -> None:
    seen = replace(complete, reward=change(reward) if reward else None, private=change(private) if private else None)
    ruling = next(ruling for rule, ruling in judge(seen) if rule.name == "reward-and-private-set")
    assert ruling.ruled is WALKTHROUGH[reward, private]
    assert ("reward was probably wrong" in ruling.text) == ((reward, private) == ("down", "up"))
    assert ("gamed" in ruling.text) == ((reward, private) == ("up", "down"))


@given(st.lists(st.sampled_from(Ruled), max_size=8))
def test_the_verdict_is_that_of_the_worst(rulings: list[Ruled]) -> None:
    found = decide(rulings)
    assert decide(reversed(rulings)) is found
    if found is Outcome.GO:
        assert Ruled.GOOD in rulings
        assert not {Ruled.BAD, Ruled.MISSING} & set(rulings)
    assert (found is Outcome.NO_GO) == (Ruled.BAD in rulings)
    assert decide([*rulings, Ruled.MISSING]) is not Outcome.GO
