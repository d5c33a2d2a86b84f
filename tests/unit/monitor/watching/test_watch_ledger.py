"""Each finding once, its end once, one alert for one cause."""

from __future__ import annotations

from dataclasses import replace

from firstbreak.diagnosis import Advice, Coverage, Diagnosis, FirstBreak, RankedCause, Verdict
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.monitor.watching.ledger import MOST_RETURNS, Ledger
from firstbreak.runlog import RunLog
from firstbreak.series import WHOLE_RUN


def finding(rule: str, severity: Severity = Severity.ERROR, **changes: object) -> Finding:
    made = Finding(rule, rule.lower(), Link.CRITIC, Component.VALUE, severity, Onset(1, 2), "it did 3", "critic/loss")
    return replace(made, **changes)


def cause(name: str, *explains: str) -> RankedCause:
    return RankedCause(name, "why", Link.CRITIC, Component.VALUE, 1.0, explains)


def diagnosis(*findings: Finding, causes: tuple[RankedCause, ...] = (), first: Finding | None = None) -> Diagnosis:
    broke = None if first is None else FirstBreak(
        first.link, first.component, WHOLE_RUN, first.rule, first.name, first.metric, first.onset
    )  # fmt: skip
    return Diagnosis(RunLog("run"), Verdict.UNDECIDED, broke, causes, findings, Coverage({}, 1, 1), Advice.CANNOT_TELL)


def told(ledger: Ledger, seen: Diagnosis) -> list[tuple[str, str, bool]]:
    return [(n.finding.rule, n.what, n.alert) for n in ledger.update(seen)]


def test_a_finding_is_told_once_and_its_end_once() -> None:
    ledger, one = Ledger(), finding("A1")
    assert told(ledger, diagnosis(one)) == [("A1", "new", True)]
    assert told(ledger, diagnosis(one)) == []
    over = replace(one, resolved_at=9.0)
    assert told(ledger, diagnosis(over)) == [("A1", "over", False)]
    assert told(ledger, diagnosis(over)) == []
    assert told(ledger, diagnosis()) == []


def test_one_that_is_over_when_first_seen_is_told_with_its_end() -> None:
    assert told(Ledger(), diagnosis(finding("A1", resolved_at=3.0))) == [("A1", "new", True), ("A1", "over", False)]


def test_one_that_the_longer_log_no_longer_shows_is_over() -> None:
    ledger = Ledger()
    told(ledger, diagnosis(finding("A1")))
    assert told(ledger, diagnosis()) == [("A1", "over", False)]


def test_what_comes_and_goes_is_told_a_few_times_only() -> None:
    ledger, one = Ledger(), finding("A1")
    news = [told(ledger, diagnosis(*([one] if i % 2 == 0 else []))) for i in range(20)]
    assert sum(("A1", "back", False) in item for item in news) == MOST_RETURNS


def test_it_is_told_again_when_it_gets_worse() -> None:
    ledger = Ledger()
    assert told(ledger, diagnosis(finding("A1", Severity.WARNING))) == [("A1", "new", True)]
    assert told(ledger, diagnosis(finding("A1"))) == [("A1", "worse", True)]


def test_one_cause_makes_one_alert_and_notes_and_ignored_ones_none() -> None:
    ledger = Ledger()
    why = cause("too-large", "A1", "A2")
    seen = diagnosis(finding("A1"), finding("A2"), finding("N1", Severity.INFO), causes=(why,))
    assert told(ledger, seen) == [("A1", "new", True), ("A2", "new", False), ("N1", "new", False)]
    assert told(ledger, diagnosis(finding("I1", ignored="known"))) != [("I1", "new", True)]
    assert "I1" not in ledger.told


def test_an_error_is_alerted_although_a_warning_of_its_cause_was() -> None:
    ledger, why = Ledger(), cause("too-large", "A1", "A2")
    assert told(ledger, diagnosis(finding("A1", Severity.WARNING), causes=(why,))) == [("A1", "new", True)]
    both = diagnosis(finding("A1", Severity.WARNING), finding("A2"), causes=(why,))
    assert told(ledger, both) == [("A2", "new", True)]


def test_a_consequence_of_what_was_told_is_no_alert_and_the_first_break_comes_first() -> None:
    ledger, root = Ledger(), finding("Z9")
    seen = diagnosis(finding("A1", consequence_of="Z9"), root, first=root)
    assert told(ledger, seen) == [("Z9", "new", True), ("A1", "new", False)]
