"""Everything in the terminal (`--full`): findings under their causes, coverage, keys, provenance, configuration."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from ..blame import whose_fault
from ..diagnosis import Diagnosis, RankedCause, Verdict
from ..finding import LOOP, Finding, Onset, Severity
from ..runlog import RunLog
from .clean import plain
from .page import Page
from .redaction import setting
from .text import confirmation_phrase, patch_line, remedy_phrase
from .words import count, explained, number, onset_phrase, separation, unknown_keys

MARKS = {Severity.ERROR: "[E]", Severity.WARNING: "[W]", Severity.INFO: "[i]"}
DIFF = {"+": "green", "-": "red"}
STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: ""}


def details(page: Page, diagnosis: Diagnosis) -> None:
    """Add every part of the diagnosis that the first screen leaves out."""
    for note in diagnosis.notes if diagnosis.verdict is not Verdict.HEALTHY else ():
        page.entry("note", plain(note, 400))
    for index, cause in enumerate(diagnosis.causes, 1):
        _cause(page, index, cause, explained(cause, diagnosis.findings))
    _findings(page, diagnosis)
    _departures(page, diagnosis.log)
    if diagnosis.confirm_with:
        page.heading("What would decide it")
        for confirmation in diagnosis.confirm_with:
            page.entry("", confirmation_phrase(confirmation))
    _coverage(page, diagnosis)
    _keys(page, diagnosis)
    _provenance(page, diagnosis)


def _cause(page: Page, index: int, cause: RankedCause, explains: str) -> None:
    page.heading(f"Cause {index}: {cause.name} ({cause.link}, {cause.component}; score {number(cause.score)})")
    page.entry("", plain(cause.summary, 400))
    if explains:
        page.entry("explains", explains, indent=2)
    if cause.against:
        page.entry("against", f"{', '.join(cause.against)} looked and was clear", indent=2)
    if told := separation(cause):
        page.entry("rivals", told, indent=2)
    for confirmation in cause.confirm_with:
        page.entry("prove", confirmation_phrase(confirmation), indent=2)
    for remedy in cause.remedies:
        page.entry("do", remedy_phrase(remedy), indent=2)
        for patch in remedy.patches:
            page.entry("patch", patch.title, indent=2)
            for line in patch.lines:
                page.verbatim(patch_line(line), style=DIFF.get(line[:1], "dim"), indent=2)


def _findings(page: Page, diagnosis: Diagnosis) -> None:
    page.heading(f"Findings ({len(diagnosis.findings)})")
    if not diagnosis.findings:
        page.entry("", "none")
    for finding, depth in nested(diagnosis.findings):
        _finding(page, diagnosis, finding, depth)


def _departures(page: Page, log: RunLog) -> None:
    """Add what left the band of the healthy runs that were given, first to leave first."""
    found = log.against
    if found is None or not found.departures:
        return
    page.heading(
        f"Beside {count(found.runs, 'healthy run')} ({len(found.departures)} of {found.compared} metrics left)"
    )
    for one in found.departures:
        when = onset_phrase(Onset(one.lo, one.hi, log.clock), log)
        band = f"{number(one.low)} to {number(one.high)}"
        page.entry("", f"{one.metric} ({one.link}): {number(one.value)}, healthy {band}; {when}", indent=2)


def nested(findings: Iterable[Finding]) -> list[tuple[Finding, int]]:
    """Return findings with their depth, worst first: each consequence follows what it is a consequence of."""
    every = list(findings)
    known = {f.id for f in every}
    placed: list[tuple[Finding, int]] = []
    done: set[str] = set()

    def place(finding: Finding, depth: int) -> None:
        if finding.id in done:
            return
        done.add(finding.id)
        placed.append((finding, depth))
        for child in every:
            if child.consequence_of == finding.id:
                place(child, depth + 1)

    roots = [f for f in every if f.consequence_of is None or f.consequence_of not in known]
    for finding in sorted(roots, key=lambda f: (bool(f.ignored), -f.severity.rank)):
        place(finding, 0)
    for finding in every:
        place(finding, 0)
    return placed


def _finding(page: Page, diagnosis: Diagnosis, finding: Finding, depth: int) -> None:
    mark = MARKS[finding.severity]
    pad = "  " * min(depth, 3)
    follows = "follows: " if depth else ""
    scope = f" [{plain(finding.scope, 60)}]" if str(finding.scope) else ""
    head = f"{follows}{finding.rule} {finding.name}{scope}: {plain(finding.message, 200)}"
    page.entry(pad + mark, head, style=STYLES[finding.severity], indent=len(pad))
    when = f"{finding.link}, {onset_phrase(finding.onset, diagnosis.log)}"
    if finding.resolved_at is not None:
        when += f"; passed by {number(finding.resolved_at)}"
    page.entry("", when, indent=len(pad))
    if finding.evidence:
        shown = [
            f"{plain(k, 40)} = {number(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else plain(v, 80)}"
            for k, v in finding.evidence.items()
        ]
        page.entry("", ", ".join(shown), indent=len(pad))
    if finding.ignored:
        page.entry("", f"ignored: {plain(finding.ignored, 200)}", indent=len(pad))


def _coverage(page: Page, diagnosis: Diagnosis) -> None:
    coverage = diagnosis.coverage
    page.heading("Coverage")
    for link in LOOP:
        if link in coverage.links:
            looked, rules = coverage.rules.get(link, (0, 0))
            page.entry("", f"{link.value:<20} {coverage.links[link]:<8} {looked} of {count(rules, 'rule')}")
    if diagnosis.clear:
        page.entry("clear", ", ".join(diagnosis.clear))
    for skipped in coverage.skipped:
        if skipped.applies:
            page.entry("skipped", f"{skipped.rule} {skipped.name}: {plain(skipped.reason, 200)}")
    beside = [s.name for s in coverage.skipped if not s.applies]
    if beside:
        page.entry("n/a", f"do not concern this algorithm: {', '.join(beside)}")
    for name, message in coverage.errors:
        page.entry("failed", f"{name}: {plain(message, 200)}{whose_fault(message, 'run')}")


def _keys(page: Page, diagnosis: Diagnosis) -> None:
    log = diagnosis.log
    if unknown := unknown_keys(log):
        page.heading(f"Unknown keys ({len(unknown)})")
        for key in unknown:
            guess = log.guesses.get(key)
            flag = shlex.quote(f"{plain(key, 80)}={guess}")
            resembles = f": resembles {guess}; if it is, add --map {flag}" if guess else ""
            page.entry("", plain(key, 100) + resembles)
    if log.config:
        page.heading(f"Configuration ({len(log.config)})")
        for key in sorted(log.config, key=str):
            page.entry("", f"{plain(key, 80)} = {setting(str(key), log.config[key], 200)}")


def _provenance(page: Page, diagnosis: Diagnosis) -> None:
    provenance = diagnosis.log.provenance
    page.heading("Where the numbers come from")
    for path in provenance.read:
        page.entry("read", plain(path, 200))
    for path, reason in provenance.left:
        page.entry("left", f"{plain(path, 200)}: {plain(reason, 200)}")
    for problem in provenance.problems:
        page.entry("problem", plain(problem, 400))
