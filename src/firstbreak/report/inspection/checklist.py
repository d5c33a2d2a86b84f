"""The faces of a checklist: its rows first, then what decided them."""

from __future__ import annotations

import importlib
from typing import Any

from ...diagnosis import Verdict
from ...preflight.checklist.run import Checklist, RowResult, Status
from ..clean import plain
from ..json import dumps
from ..markdown import escape
from ..page import PLAIN, Face, Page
from . import html, json, markdown, text

MARKS = {Status.PASSED: "pass", Status.FAILED: "FAIL", Status.NOT_LOOKED: "?"}
STYLES = {Status.PASSED: "green", Status.FAILED: "bold red", Status.NOT_LOOKED: "dim"}


def render(checklist: Checklist, name: str, *, full: bool = False, face: Face | None = None) -> str:
    """Return the face called `name` (text, json, markdown, html, junit or github)."""
    if name == "json":
        document = json.document(checklist.inspections, [row.as_dict() for row in checklist.rows])
        return dumps({**document, "verdict": checklist.verdict.value, "problems": list(checklist.problems)})
    if name == "html":
        return page(checklist)
    if name == "markdown":
        return _markdown(checklist)
    if name == "text":
        return _text(checklist, full, face or PLAIN)
    return importlib.import_module(f"firstbreak.report.inspection.{name}").render(checklist.inspections)


def headline(checklist: Checklist) -> str:
    """Return how many rows ended how."""
    counts = ", ".join(f"{checklist.count(status)} {status.value}" for status in Status)
    whole = not checklist.count(Status.NOT_LOOKED)
    well = "READY" if whole else "NOTHING WRONG IN WHAT WAS LOOKED AT"
    words = {Verdict.BROKEN: "DO NOT TRAIN YET", Verdict.HEALTHY: well, Verdict.UNDECIDED: "UNDECIDED"}
    return f"{words[checklist.verdict]}: {counts}"


def page(checklist: Checklist) -> str:
    """Return the checklist as a whole page."""
    rows = [
        {"status": row.status.value, "question": row.question, "link": row.link.value, "answer": _answer(row)}
        for row in checklist.rows
    ]
    return html.page(
        checklist.inspections, rows, headline(checklist), verdict=checklist.verdict, problems=checklist.problems
    )


def _answer(row: RowResult) -> str:
    lines = "; ".join(row.add.splitlines())
    return f"{row.why} (add: {lines})" if row.status is Status.NOT_LOOKED and row.add else row.why


def _text(checklist: Checklist, full: bool, face: Face) -> str:
    top = Page(face)
    top.line(headline(checklist), style=text.COLOURS[checklist.verdict])
    part = ""
    for row in checklist.rows:
        if row.part != part:
            part = row.part
            top.heading(part.capitalize())
        top.entry(MARKS[row.status], row.question, style=STYLES[row.status])
        if row.status is not Status.PASSED:
            top.entry("", plain(_answer(row), 300), indent=2, most=4)
    for problem in checklist.problems:
        top.entry("problem", plain(problem, 300), most=3)
    below = text.render(checklist.inspections, full=full, face=face) if checklist.inspections else ""
    return top.text() + ("\n" + below if below else "")


def _markdown(checklist: Checklist) -> str:
    lines = [f"## {escape(headline(checklist))}", "", "| | question | link | answer |", "| --- | --- | --- | --- |"]
    for row in checklist.rows:
        cells: tuple[Any, ...] = (row.status.value, escape(row.question), row.link.value, escape(_answer(row)))
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"- problem: {escape(plain(problem, 300))}" for problem in checklist.problems)]
    return "\n".join(lines).rstrip() + "\n\n" + markdown.render(checklist.inspections)
