"""The JUnit face of inspections: one suite an inspection, one case a check."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from ...check import checks_of
from ...finding import Severity
from ...inspection import Inspection
from ..clean import plain
from . import words


def render(seen: Sequence[Inspection]) -> str:
    """Return the XML of any number of inspections: errors and warnings are failures."""
    root = ET.Element("testsuites", name="firstbreak")
    for one in seen:
        _suite(root, one)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _suite(root: ET.Element, seen: Inspection) -> None:
    skipped = [s for s in seen.skipped if s.applies]
    failing = [f for f in seen.findings if f.severity is not Severity.INFO and not f.ignored]
    suite = ET.SubElement(
        root,
        "testsuite",
        name=plain(f"{seen.kind} {seen.target}", 400),
        tests=str(len(seen.findings) + len(seen.clear) + len(skipped) + len(seen.errors)),
        failures=str(len(failing)),
        skipped=str(len(skipped)),
        errors=str(len(seen.errors)),
    )
    links = {c.name: c.link.value for c in checks_of(seen.kind)}
    for finding in seen.findings:
        case = _case(suite, finding.name, finding.link.value)
        if finding in failing:
            failure = ET.SubElement(case, "failure", type=finding.severity.value, message=plain(finding.message))
            failure.text = f"{plain(finding.metric)}\n{words.fix(seen, finding)}"
        else:
            ET.SubElement(case, "system-out").text = plain(finding.message)
    for name in seen.clear:
        _case(suite, name, links[name])
    for entry in skipped:
        ET.SubElement(_case(suite, entry.name, links[entry.name]), "skipped", message=plain(entry.reason))
    for name, message in seen.errors:
        ET.SubElement(_case(suite, name, links[name]), "error", message=plain(message))
    ET.SubElement(suite, "system-out").text = plain(words.headline(seen))


def _case(suite: ET.Element, name: str, link: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", name=plain(name), classname=f"firstbreak.{link}")
