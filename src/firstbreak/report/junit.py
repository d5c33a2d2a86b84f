"""The face for test dashboards: JUnit XML, one suite a run, one case a rule."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Sequence

from ..diagnosis import Diagnosis
from ..finding import Finding, Severity
from ..registry import all_rules
from .clean import plain
from .words import onset_phrase, verdict_phrase


def render(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the XML of any number of runs: errors and warnings are failures, what could not look is skipped."""
    root = ET.Element("testsuites", name="firstbreak")
    for diagnosis in diagnoses:
        _suite(root, diagnosis)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _suite(root: ET.Element, diagnosis: Diagnosis) -> None:
    by_rule: dict[str, list[Finding]] = defaultdict(list)
    for finding in diagnosis.findings:
        by_rule[finding.name].append(finding)
    coverage = diagnosis.coverage
    skipped = [s for s in coverage.skipped if s.applies]
    failed = sum(any(_fails(f) for f in findings) for findings in by_rule.values())
    suite = ET.SubElement(
        root,
        "testsuite",
        name=plain(diagnosis.log.path, 400) or "run",
        tests=str(len(by_rule) + len(diagnosis.clear) + len(skipped) + len(coverage.errors)),
        failures=str(failed),
        skipped=str(len(skipped)),
        errors=str(len(coverage.errors)),
    )
    links = {rule.name: rule.link.value for rule in all_rules()}
    for name, findings in by_rule.items():
        _fired(_case(suite, name, findings[0].link.value), diagnosis, findings)
    for name in diagnosis.clear:
        _case(suite, name, links.get(name, ""))
    for entry in skipped:
        ET.SubElement(_case(suite, entry.name, links.get(entry.name, "")), "skipped", message=plain(entry.reason))
    for name, message in coverage.errors:
        ET.SubElement(_case(suite, name, links.get(name, "")), "error", message=plain(message))
    ET.SubElement(suite, "system-out").text = plain(verdict_phrase(diagnosis))


def _fails(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO and not finding.ignored


def _case(suite: ET.Element, name: str, link: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", name=plain(name), classname=f"firstbreak.{link}".rstrip("."))


def _fired(case: ET.Element, diagnosis: Diagnosis, findings: Sequence[Finding]) -> None:
    """Write what fired: one failure for the worst (JUnit allows one a case), the others as output."""
    lines = [f"{f.severity}: {plain(f.message)} ({onset_phrase(f.onset, diagnosis.log)})" for f in findings]
    worst = max(findings, key=lambda f: (_fails(f), f.severity.rank))
    if _fails(worst):
        failure = ET.SubElement(case, "failure", type=worst.severity.value, message=plain(worst.message))
        failure.text = "\n".join(lines)
    else:
        ET.SubElement(case, "system-out").text = "\n".join(lines)
