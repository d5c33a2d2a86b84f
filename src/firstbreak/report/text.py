"""The terminal face: the answer in at most twenty lines, everything on request. Plain when piped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..diagnosis import Confirmation, Diagnosis, RankedCause, Remedy, Verdict
from ..experiments.settle.commands import command_for
from ..limits import SHORT
from ..patches import Patch
from .clean import plain
from .page import LABEL, PLAIN, Face, Page
from .spark import shown_metric, spark
from .words import (
    ADVICE_WORDS,
    against_phrase,
    coverage_phrase,
    findings_phrase,
    leading,
    links_by_sight,
    onset_phrase,
    run_phrase,
    separation,
    short_path,
    unread_phrase,
    verdict_phrase,
)

LINES = 20
"""Of the first screen."""


@dataclass(frozen=True)
class _Cut:
    """How much the first screen says."""

    tried: int = 3
    """Recorded experiments; `firstbreak settle` tells all."""
    tried_lines: int = 2
    lines: int = 2
    """Of any other entry."""
    open: int = 2
    """Of what a verdict that is not decided leaves open."""
    looks: int = 3
    """What would decide it: nobody does ten things."""


CUTS = (
    _Cut(),
    _Cut(tried_lines=1),
    _Cut(tried=1, tried_lines=1),
    _Cut(tried=1, tried_lines=1, open=1, looks=2),
    _Cut(tried=1, tried_lines=1, lines=1),
    _Cut(tried=1, tried_lines=1, lines=1, looks=2),
    _Cut(tried=1, tried_lines=1, lines=1, open=1, looks=1),
)
"""Tried in this order until the screen fits: the verdicts of experiments are told whole elsewhere, the rest is not."""
COLOURS = {Verdict.BROKEN: "bold red", Verdict.HEALTHY: "bold green", Verdict.UNDECIDED: "bold yellow"}


def render(diagnoses: Sequence[Diagnosis], *, full: bool = False, face: Face = PLAIN) -> str:
    """Return the report of any number of runs: one screen for one run, one line each for several."""
    from .text_full import details
    from .text_table import table

    page = Page(face)
    if len(diagnoses) > 1:
        table(page, diagnoses)
    for diagnosis in diagnoses if full or len(diagnoses) == 1 else ():
        if len(diagnoses) > 1:
            page.line()
            page.line("-" * page.width, style="dim")
        summary(page, diagnosis)
        if full:
            details(page, diagnosis)
    return page.text()


def summary(page: Page, diagnosis: Diagnosis) -> None:
    """Add the first screen: verdict, evidence, cause, what to do, what was not looked at."""
    _screen(page, diagnosis, next((cut for cut in CUTS if _lines(page.face, diagnosis, cut) <= LINES), CUTS[-1]))


def _lines(face: Face, diagnosis: Diagnosis, cut: _Cut) -> int:
    trial = Page(face)
    _screen(trial, diagnosis, cut)
    return trial.text().count("\n")


def _screen(page: Page, diagnosis: Diagnosis, cut: _Cut) -> None:
    page.line(verdict_phrase(diagnosis), style=COLOURS[diagnosis.verdict], most=3)
    page.entry("run", f"{short_path(diagnosis.log.path)}: {run_phrase(diagnosis.log)}", most=cut.lines)
    _break(page, diagnosis, cut)
    _plot(page, diagnosis)
    if diagnosis.causes and diagnosis.verdict is not Verdict.HEALTHY:
        _cause(page, diagnosis.causes[0], cut)
    _tried(page, diagnosis.tried, cut)
    for proof in _proofs(diagnosis)[: cut.looks]:
        page.entry(*proof, most=cut.lines)
    beside = against_phrase(diagnosis.log)
    if beside:
        page.entry("beside", beside, most=cut.lines)
    if diagnosis.verdict is Verdict.HEALTHY:
        _notes(page, diagnosis, cut)
    page.entry("seen", coverage_phrase(diagnosis), most=cut.lines)
    if unread := unread_phrase(diagnosis):
        page.entry("unread", unread, most=cut.lines)
    _, _, blind = links_by_sight(diagnosis)
    if blind and diagnosis.verdict is Verdict.HEALTHY:
        page.entry("unseen", f"nothing is claimed about {', '.join(blind)}", most=cut.lines)
    if diagnosis.verdict is not Verdict.HEALTHY:
        _notes(page, diagnosis, cut)
    found = findings_phrase(diagnosis.findings)
    if found:
        page.entry("found", f"{found} (--full shows all)", most=1)
    page.entry("advice", advice(diagnosis), most=cut.lines, style="bold")


def _notes(page: Page, diagnosis: Diagnosis, cut: _Cut) -> None:
    """Add what the verdict leaves open, and what would settle it; of a broken run there is more to say."""
    for note in diagnosis.notes if diagnosis.verdict is Verdict.HEALTHY else ():
        page.entry("note", plain(note, 400), most=3)
    short = [SHORT[note] for note in diagnosis.notes if note in SHORT]
    if short and diagnosis.verdict is Verdict.UNDECIDED:
        page.entry("open", "; ".join(short), most=cut.open)


def _tried(page: Page, tried: Sequence[str], cut: _Cut) -> None:
    """Add what recorded experiments did; where not all are shown the last line says how many there are."""
    if len(tried) > cut.tried:
        shown = tried[: cut.tried - 1]
        rest = f"{len(tried) - len(shown)} {'more' if shown else 'recorded experiments'}: firstbreak settle RUN tells"
        tried = (*shown, rest)
    for line in tried:
        page.entry("tried", plain(line, 300), most=cut.tried_lines)


def _break(page: Page, diagnosis: Diagnosis, cut: _Cut) -> None:
    """Add what broke first and when, or the worst finding."""
    shown = leading(diagnosis)
    if shown is None:
        return
    label = "broke" if diagnosis.first_break is not None else shown.severity.value
    page.entry(label, f"{shown.name}: {plain(shown.message, 200)}", most=2)
    resolved = "" if shown.resolved_at is None else " (passed since)"
    page.entry("when", onset_phrase(shown.onset, diagnosis.log) + resolved, most=1)


def _plot(page: Page, diagnosis: Diagnosis) -> None:
    shown = shown_metric(diagnosis)
    if shown is None:
        return
    series, onset = shown
    drawn = spark(series, onset, page.width - LABEL, ascii_only=page.ascii_only)
    page.entry("", f"{plain(series.metric, 50)}  {drawn.caption}", most=1, style="dim")
    page.drawing(drawn.marks, style="cyan")
    if drawn.pointer:
        page.drawing(drawn.pointer, style="cyan")


def _cause(page: Page, cause: RankedCause, cut: _Cut) -> None:
    page.entry("cause", f"{cause.name}: {plain(cause.summary, 300)}", most=cut.lines)
    if told := separation(cause):
        page.entry("or", told, most=cut.lines)
    if cause.remedies:
        page.entry("do", remedy_phrase(cause.remedies[0]), most=cut.lines)
    patch = next((p for remedy in cause.remedies[:1] for p in remedy.patches), None)
    if patch is not None:
        page.entry("patch", f"{patch.title}: {'; '.join(added(patch))}", most=cut.lines)


def patch_line(line: str) -> str:
    """Return a line of a patch, cleaned, with its indentation: it is to be copied."""
    body = line[1:].lstrip(" ")
    return line[:1] + " " * (len(line) - 1 - len(body)) + plain(body, 300)


def added(patch: Patch) -> list[str]:
    """Return the lines of a patch that change something, in one line's form."""
    return [plain(line[0] + line[1:].strip(), 120) for line in patch.lines if line[:1] in "+-"]


def remedy_phrase(remedy: Remedy) -> str:
    """Return a remedy behind its gate: the looks it needs come first."""
    if not remedy.provisional:
        return remedy.text
    return f"first look at {', '.join(remedy.requires)}; then (provisional): {remedy.text}"


def confirmation_phrase(confirmation: Confirmation) -> str:
    """Return what would confirm it: the command that does it, if there is one, and the recipe."""
    known = command_for(confirmation)
    command = f" `{known}`." if known else ""
    return f"{confirmation.experiment}:{command} {plain(confirmation.recipe, 300)}"


def _proofs(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    """Return label and text of the experiments to make next, in their order; one of a run that is broken."""
    if diagnosis.verdict is Verdict.UNDECIDED:
        said = [confirmation_phrase(look) for look in diagnosis.confirm_with]
        return [("then" if place else "decide", text) for place, text in enumerate(said)]
    if diagnosis.verdict is Verdict.BROKEN and diagnosis.causes and diagnosis.causes[0].confirm_with:
        return [("prove", confirmation_phrase(diagnosis.causes[0].confirm_with[0]))]
    return []


def advice(diagnosis: Diagnosis) -> str:
    """Return what to do with the run now, and where to go back to."""
    text = ADVICE_WORDS[diagnosis.advice]
    if diagnosis.log.state == "finished" and diagnosis.verdict is Verdict.HEALTHY:
        text = "nothing found to mend"
    elif diagnosis.log.state in ("finished", "crashed") and diagnosis.verdict is Verdict.BROKEN:
        text = "do not build on this run"
    if diagnosis.last_healthy_checkpoint and diagnosis.verdict is Verdict.BROKEN:
        text += f"; last healthy checkpoint: {plain(diagnosis.last_healthy_checkpoint, 120)}"
    return text
