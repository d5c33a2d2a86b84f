"""The Markdown face of inspections; nothing from a target is markup."""

from __future__ import annotations

from collections.abc import Sequence

from ...inspection import Inspection
from ..markdown import SYMBOLS, escape
from ..text_full import nested
from . import words


def render(seen: Sequence[Inspection]) -> str:
    """Return the report of any number of inspections."""
    return "\n".join(line for one in seen for line in _one(one)).rstrip() + "\n"


def _one(seen: Inspection) -> list[str]:
    lines = [f"### {SYMBOLS[seen.verdict]} {escape(words.headline(seen))}", ""]
    if seen.findings:
        lines += ["| | check | link | where | what | do first |", "| --- | --- | --- | --- | --- | --- |"]
        for finding, depth in nested(seen.findings):
            name = f"{'↳ ' * depth}{finding.name}"
            what = f"{escape(finding.metric)} | {escape(finding.message)} | {escape(words.fix(seen, finding))}"
            lines.append(f"| {finding.severity} | {name} | {finding.link} | {what} |")
        lines.append("")
    for title, columns, rows in words.tables(seen):
        lines += [f"**{escape(title)}**", "", f"| {' | '.join(map(escape, columns))} |"]
        lines += [f"| {' | '.join('---' for _ in columns)} |"]
        lines += [f"| {' | '.join(map(escape, row))} |" for row in rows]
        lines.append("")
    lines += [f"**Coverage:** {escape(words.coverage(seen))}", "", f"**Advice:** {escape(words.advice(seen))}", ""]
    return lines
