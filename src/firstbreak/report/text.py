"""The terminal face: the answer in at most twenty lines, everything on request. Plain when piped."""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnosis import Confirmation, Diagnosis, RankedCause, Remedy, Verdict
from ..experiments.settle.commands import command_for
from ..patches import Patch
from .clean import plain
from .page import LABEL, PLAIN, Face, Page
from .spark import shown_metric, spark
from .words import (
    ADVICE_WORDS,
    against_phrase,
    coverage_phrase,
    findings_phrase,
    links_by_sight,
    onset_phrase,
    run_phrase,
    separation,
    short_path,
    verdict_phrase,
)

MOST_TRIED = 3
"""Recorded experiments on the first screen; `firstbreak settle` tells all."""
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
    page.line(verdict_phrase(diagnosis), style=COLOURS[diagnosis.verdict], most=3)
    page.entry("run", f"{short_path(diagnosis.log.path)}: {run_phrase(diagnosis.log)}", most=2)
    _break(page, diagnosis)
    _plot(page, diagnosis)
    if diagnosis.causes and diagnosis.verdict is not Verdict.HEALTHY:
        _cause(page, diagnosis.causes[0])
    for line in diagnosis.tried[:MOST_TRIED]:
        page.entry("tried", plain(line, 300), most=2)
    proof = _proof(diagnosis)
    if proof is not None:
        page.entry(*proof, most=2)
    beside = against_phrase(diagnosis.log)
    if beside:
        page.entry("beside", beside, most=2)
    page.entry("seen", coverage_phrase(diagnosis), most=2)
    _, _, blind = links_by_sight(diagnosis)
    if blind and diagnosis.verdict is Verdict.HEALTHY:
        page.entry("unseen", f"nothing is claimed about {', '.join(blind)}", most=2)
    for note in diagnosis.notes if diagnosis.verdict is Verdict.HEALTHY else ():  # of others there is more to say
        page.entry("note", plain(note, 400), most=3)
    found = findings_phrase(diagnosis.findings)
    if found:
        page.entry("found", f"{found} (--full shows all)", most=1)
    page.entry("advice", advice(diagnosis), most=2, style="bold")


def _break(page: Page, diagnosis: Diagnosis) -> None:
    """Add what broke and when; for an undecided run the worst finding takes its place."""
    first = diagnosis.first_break
    active = [f for f in diagnosis.findings if not f.ignored and f.severity.rank]
    if first is not None:
        shown = next((f for f in active if f.rule == first.rule and f.scope == first.scope), None)
    else:
        shown = max(active, key=lambda f: f.severity.rank, default=None)
    if shown is None:
        return
    label = "broke" if first is not None else shown.severity.value
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


def _cause(page: Page, cause: RankedCause) -> None:
    page.entry("cause", f"{cause.name}: {plain(cause.summary, 300)}", most=2)
    if told := separation(cause):
        page.entry("or", told, most=2)
    if cause.remedies:
        page.entry("do", remedy_phrase(cause.remedies[0]), most=2)
    patch = next((p for remedy in cause.remedies[:1] for p in remedy.patches), None)
    if patch is not None:
        page.entry("patch", f"{patch.title}: {'; '.join(added(patch))}", most=2)


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


def _proof(diagnosis: Diagnosis) -> tuple[str, str] | None:
    """Return the label and text of the one experiment to make next."""
    if diagnosis.verdict is Verdict.UNDECIDED and diagnosis.confirm_with:
        return "decide", confirmation_phrase(diagnosis.confirm_with[0])
    if diagnosis.verdict is Verdict.BROKEN and diagnosis.causes and diagnosis.causes[0].confirm_with:
        return "prove", confirmation_phrase(diagnosis.causes[0].confirm_with[0])
    return None


def advice(diagnosis: Diagnosis) -> str:
    """Return what to do with the run now, and where to go back to."""
    text = ADVICE_WORDS[diagnosis.advice]
    if diagnosis.log.state == "finished" and diagnosis.verdict is Verdict.HEALTHY:
        text = "nothing to mend"
    elif diagnosis.log.state in ("finished", "crashed") and diagnosis.verdict is Verdict.BROKEN:
        text = "do not build on this run"
    if diagnosis.last_healthy_checkpoint and diagnosis.verdict is Verdict.BROKEN:
        text += f"; last healthy checkpoint: {plain(diagnosis.last_healthy_checkpoint, 120)}"
    return text
