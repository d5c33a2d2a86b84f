"""Which finding a report leads with where nothing is called broken."""

from __future__ import annotations

from dataclasses import replace

from firstbreak.diagnosis import Diagnosis
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.report.words import leading


def shown(name: str, metric: str, severity: Severity = Severity.WARNING, ignored: str = "") -> Finding:
    where = Link.CRITIC, Component.LOSS
    return Finding(name, name, *where, severity, Onset(5, 6, "updates"), name, metric, ignored=ignored)


FALL = shown("return-falls", "reward/episode_return_mean")
WAVE = shown("return-oscillates", "reward/episode_return_mean")
GROWTH = shown("values-grow", "critic/q_mean")


def led(broken: Diagnosis, *findings: Finding, told: tuple[Finding, ...] = ()) -> str:
    """The name of the finding that leads an undecided report; `told` are those that its cause explains."""
    cause = replace(broken.causes[0], explains=tuple(finding.id for finding in told))
    found = leading(replace(broken, first_break=None, findings=findings, causes=(cause,)))
    return found.name if found is not None else ""


def test_of_equals_one_that_is_not_about_the_return_leads(broken: Diagnosis):
    assert led(broken, FALL, GROWTH) == "values-grow"
    assert led(broken, FALL, WAVE) == "return-falls"
    assert led(broken, FALL, GROWTH, told=(FALL, GROWTH)) == "values-grow"


def test_what_is_worse_leads_and_then_what_the_cause_explains(broken: Diagnosis):
    assert led(broken, replace(FALL, severity=Severity.ERROR), GROWTH) == "return-falls"
    assert led(broken, FALL, GROWTH, told=(FALL,)) == "return-falls"


def test_notes_and_what_was_ignored_never_lead(broken: Diagnosis):
    silent = shown("note", "critic/q_mean", Severity.INFO), shown("ignored", "critic/q_mean", ignored="configured")
    assert led(broken, *silent) == ""
    assert led(broken, *silent, FALL) == "return-falls"
