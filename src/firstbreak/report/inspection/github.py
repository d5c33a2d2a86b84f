"""The GitHub Actions face of inspections: one workflow annotation a finding."""

from __future__ import annotations

from collections.abc import Sequence

from ...inspection import Inspection
from ..github import LEVELS, annotation
from . import words


def render(seen: Sequence[Inspection]) -> str:
    """Return the annotation lines; the verdict of each inspection comes first, as a notice."""
    lines: list[str] = []
    for one in seen:
        lines.append(annotation("notice", one.target, f"{words.headline(one)}. {words.coverage(one)}."))
        for finding in one.findings:
            if not finding.ignored:
                title = f"{one.target}: {finding.rule} {finding.name} ({finding.link})"
                lines.append(
                    annotation(LEVELS[finding.severity], title, f"{finding.message}. {words.fix(one, finding)}")
                )
    return "\n".join(lines) + "\n"
