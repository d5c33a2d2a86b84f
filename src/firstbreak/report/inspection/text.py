"""The terminal face of inspections: the answer first, everything on request."""

from __future__ import annotations

from collections.abc import Sequence

from ...blame import whose_fault
from ...diagnosis import Verdict
from ...finding import Finding, Severity
from ...inspection import Inspection
from ..clean import plain
from ..page import LABEL, PLAIN, Face, Page
from ..text_full import MARKS, STYLES, nested
from . import words

COLOURS = {Verdict.BROKEN: "bold red", Verdict.HEALTHY: "bold green", Verdict.UNDECIDED: "bold yellow"}
MOST = 5
"""Findings shown beside the first on the first screen."""


def render(seen: Sequence[Inspection], *, full: bool = False, face: Face = PLAIN) -> str:
    """Return the report of any number of inspections."""
    page = Page(face)
    for index, one in enumerate(seen):
        if index:
            page.line()
        summary(page, one)
        if full:
            details(page, one)
    return page.text()


def summary(page: Page, seen: Inspection) -> None:
    """Add the first screen of one inspection: verdict, what broke, what to do, what was not looked at."""
    page.line(words.headline(seen), style=COLOURS[seen.verdict], most=3)
    active = [f for f in seen.findings if not f.ignored and f.consequence_of is None]
    shown = max(active, key=lambda f: f.severity.rank, default=None)
    if shown is not None and shown.severity.rank:
        _first(page, seen, shown)
    rest = [f for f in active if f is not shown and f.severity.rank]
    for finding in sorted(rest, key=lambda f: -f.severity.rank)[:MOST]:
        page.entry(_label(finding), f"{finding.name}: {plain(finding.message, 200)}", most=2)
    for title, columns, rows in words.tables(seen):
        table(page, title, columns, rows)
    page.entry("seen", words.coverage(seen), most=3)
    told = words.found(seen)
    if told:
        page.entry("found", f"{told} (--full shows all)", most=1)
    for note in seen.notes[:3]:
        page.entry("note", plain(note, 300), most=3)
    page.entry("advice", words.advice(seen), most=2, style="bold")


def _first(page: Page, seen: Inspection, finding: Finding) -> None:
    label = "broke" if finding.severity is Severity.ERROR else _label(finding)
    page.entry(label, f"{finding.name}: {plain(finding.message, 200)}", most=3)
    where = ", ".join(part for part in (plain(finding.metric, 100), words.step_of(finding)) if part)
    if where:
        page.entry("where", where, most=2)
    page.entry("do", words.fix(seen, finding), most=3)
    if "script" in finding.evidence:
        page.entry("again", plain(finding.evidence["script"], 200), most=2)


def _label(finding: Finding) -> str:
    return {"warning": "warn"}.get(finding.severity.value, finding.severity.value)


def details(page: Page, seen: Inspection) -> None:
    """Add every finding with its numbers, and every check that could not look."""
    page.heading(f"Findings ({len(seen.findings)})")
    if not seen.findings:
        page.entry("", "none")
    for finding, depth in nested(seen.findings):
        page.entry(MARKS[finding.severity], f"{finding.name}: {plain(finding.message, 200)}", indent=2 * depth)
        for name, value in words.evidence(finding):
            page.entry("", f"{name} = {value}", indent=2 * depth + 2)
        if finding.severity.rank:
            page.entry("", f"do: {words.fix(seen, finding)}", indent=2 * depth + 2, style=STYLES[finding.severity])
    unseen = [s for s in seen.skipped if s.applies]
    page.heading(f"Could not look ({len(unseen)})")
    for skipped in unseen:
        unlock = f" (give {', '.join(skipped.unlock_with)})" if skipped.unlock_with else ""
        page.entry("", f"{skipped.name}: {plain(skipped.reason, 200)}{unlock}")
    for name, message in words.failures(seen):
        page.entry("failed", f"{name}: {plain(message, 300)}{whose_fault(message, 'target')}")
    page.heading(f"Looked and found nothing ({len(seen.clear)})")
    page.entry("", ", ".join(seen.clear) or "none")
    beside = [s.name for s in seen.skipped if not s.applies]
    if beside:
        page.heading(f"Do not concern it ({len(beside)})")
        page.entry("", ", ".join(beside))


def table(page: Page, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Add a table; the widest column gives way when the page is too narrow."""
    widths = [max(len(r[i]) for r in (columns, *rows)) for i in range(len(columns))]
    room = page.width - LABEL - 2 * (len(columns) - 1)
    while sum(widths) > room and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    page.entry("", title, style="bold")
    for row in (columns, *rows):
        cells = [_fit(cell, width) for cell, width in zip(row, widths, strict=True)]
        page.drawing("  ".join(cells).rstrip(), style="dim" if row is columns else "")


def _fit(text: str, width: int) -> str:
    return (text if len(text) <= width else text[: width - 1] + "…").ljust(width)
