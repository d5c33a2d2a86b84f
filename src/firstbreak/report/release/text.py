"""A release in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ...release.building import Release
from ...release.checklists import DONE, FAILED, MISSING
from ...release.evidence import Line
from ...release.manifest import Verified
from ...release.ruling import Ruled
from ..clean import plain
from ..page import PLAIN, Face, Page
from ..words import count, number
from . import words

LINES = {DONE: "done", FAILED: "FAILED", MISSING: "missing"}


def render(release: Release, face: Face = PLAIN) -> str:
    """Return the verdict, what it rests on, and what is missing."""
    page = Page(face)
    evidence = release.evidence
    page.line(plain(words.headline(release), 300), style=words.STYLES[release.outcome], most=4)
    page.entry("release", f"{plain(release.name, 80)}, {count(len(evidence.runs), 'run')}")
    for problem in evidence.problems:
        page.entry("problem", plain(problem, 200), most=2)
    page.heading("The gate")
    for rule, ruling in release.rulings:
        page.entry(words.MARKS[ruling.ruled], rule.question, style="bold" if ruling.ruled is Ruled.BAD else "")
        page.entry("", plain(ruling.text, 300), indent=2, most=3)
        if ruling.give:
            page.entry("", f"give: {plain(ruling.give, 200)}", indent=2, most=2)
    page.heading("Scores over seeds")
    for group in evidence.results.groups:
        page.entry("", plain(words.group_title(group), 160))
        page.entry("IQM", words.interval(group.iqm, len(group.scores)), indent=2)
        if group.improvement is not None:
            page.entry("P(X>Y)", f"{words.interval(group.improvement)} against the baseline", indent=2)
        page.entry("seeds", ", ".join(number(v) for v in group.scores[:20]), indent=2, most=2)
        for remark in group.remarks:
            page.entry("", plain(remark, 200), indent=2, most=2)
    if evidence.results.overall is not None:
        page.entry("tasks", f"over all, each on its scale: {words.interval(evidence.results.overall, 0, ' a task')}")
    for remark in evidence.results.remarks:
        page.entry("", plain(remark, 200), most=2)
    page.entry("luck", words.gain(evidence.selection), most=4)
    for remark in evidence.selection.remarks:
        page.entry("", plain(remark, 200), most=2)
    _checklists(page, release)
    return page.text()


def _checklists(page: Page, release: Release) -> None:
    page.heading("Checklists")
    for title, lines in (("before", release.evidence.before), ("during", release.evidence.during),
                         ("after", release.after)):  # fmt: skip
        page.entry(title, _counts(lines))


def _counts(lines: Sequence[Line]) -> str:
    parts = [f"{sum(line.status == status for line in lines)} {word}" for status, word in LINES.items()
             if any(line.status == status for line in lines)]  # fmt: skip
    open_lines = [line.id for line in lines if line.status in (MISSING, FAILED)]
    return ", ".join(parts) + (f": {', '.join(open_lines)}" if open_lines else "")


def render_verified(found: Verified, face: Face = PLAIN) -> str:
    """Return whether a folder is still the release that was made."""
    page = Page(face)
    if found.troubles:
        page.line(f"CHANGED: {count(len(found.troubles), 'difference')}", style="bold red")
        for trouble in found.troubles[:40]:
            page.entry("", plain(trouble, 200), most=2)
    else:
        page.line(f"UNCHANGED: {count(found.files, 'file')} as they were sealed, verdict {plain(found.outcome, 20)}",
                  style="bold green")  # fmt: skip
    page.entry("seal", plain(found.seal, 80))
    return page.text()
