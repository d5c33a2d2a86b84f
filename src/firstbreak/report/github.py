"""The face for GitHub Actions: one workflow annotation a finding."""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnosis import Diagnosis
from ..finding import Severity
from .clean import plain
from .words import coverage_phrase, onset_phrase, short_path, verdict_phrase

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the annotation lines of any number of runs; the verdict of each comes first, as a notice."""
    lines: list[str] = []
    for diagnosis in diagnoses:
        run = short_path(diagnosis.log.path)
        lines.append(annotation("notice", run, f"{verdict_phrase(diagnosis)}. {coverage_phrase(diagnosis)}."))
        for finding in diagnosis.findings:
            if finding.ignored:
                continue
            title = f"{run}: {finding.rule} {finding.name} ({finding.link})"
            when = onset_phrase(finding.onset, diagnosis.log)
            lines.append(annotation(LEVELS[finding.severity], title, f"{finding.message}, {when}"))
    return "\n".join(lines) + "\n"


def annotation(level: str, title: str, message: str) -> str:
    """Return one workflow command; nothing in `title` or `message` can end it or begin another."""
    return f"::{level} title={_property(plain(title))}::{_data(plain(message, 1000))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
