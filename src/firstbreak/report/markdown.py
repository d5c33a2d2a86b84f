"""The face for pull requests and notes: GitHub-flavoured Markdown in which nothing from a log is markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..diagnosis import Diagnosis, Verdict
from .clean import plain
from .text import advice, confirmation_phrase, patch_line, remedy_phrase
from .text_full import nested
from .words import (
    COMMAND,
    coverage_phrase,
    number,
    onset_phrase,
    run_phrase,
    separation,
    short_path,
    unread_phrase,
    verdict_phrase,
    worst_first,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~>-])")
SYMBOLS = {Verdict.BROKEN: "❌", Verdict.HEALTHY: "✅", Verdict.UNDECIDED: "❔"}


def escape(value: Any, limit: int = 400) -> str:
    """Return `value` as Markdown text that shows exactly its characters: no markup, HTML, mention or autolink."""
    return _escaped(plain(value, limit))


def _escaped(text: str) -> str:
    text = _SPECIAL.sub(r"\\\1", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("\\>", "&gt;").replace("@", "&#64;")
    return text.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")


def with_commands(text: str) -> str:
    """Return `text` as Markdown in which a quoted firstbreak command is code to be copied; all else is escaped."""
    parts = COMMAND.split(plain(text, 400))
    return "".join(f"`{part}`" if i % 2 else _escaped(part) for i, part in enumerate(parts))


def render(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the report of any number of runs."""
    lines: list[str] = []
    if len(diagnoses) > 1:
        lines += ["| run | verdict | link | onset | cause |", "| --- | --- | --- | --- | --- |"]
        lines += [_row(d) for d in worst_first(diagnoses)]
        lines.append("")
    for diagnosis in worst_first(diagnoses):
        lines += _run(diagnosis)
    return "\n".join(lines).rstrip() + "\n"


def _row(diagnosis: Diagnosis) -> str:
    first = diagnosis.first_break
    cells = (
        escape(short_path(diagnosis.log.path)),
        f"{SYMBOLS[diagnosis.verdict]} {diagnosis.verdict}",
        first.link.value if first else "–",
        number(first.onset.lo) if first else "–",
        diagnosis.causes[0].name if diagnosis.causes else "–",
    )
    return f"| {' | '.join(cells)} |"


def _run(diagnosis: Diagnosis) -> list[str]:
    lines = [f"### {SYMBOLS[diagnosis.verdict]} {escape(verdict_phrase(diagnosis))}", ""]
    lines += [f"**{escape(short_path(diagnosis.log.path))}** · {escape(run_phrase(diagnosis.log))}", ""]
    lines += _causes(diagnosis)
    if diagnosis.findings:
        lines += ["| | rule | link | since | what |", "| --- | --- | --- | --- | --- |"]
        for finding, depth in nested(diagnosis.findings):
            name = f"{'↳ ' * depth}{finding.name}"
            since = escape(onset_phrase(finding.onset, diagnosis.log))
            what = escape(finding.message) + (f" (ignored: {escape(finding.ignored)})" if finding.ignored else "")
            lines.append(f"| {finding.severity} | {name} | {finding.link} | {since} | {what} |")
        lines.append("")
    for confirmation in diagnosis.confirm_with:
        lines.append(f"- to decide: {with_commands(confirmation_phrase(confirmation))}")
    lines += [part for note in diagnosis.notes for part in ("", f"**Note:** {with_commands(note)}")]
    lines += ["", f"**Coverage:** {escape(coverage_phrase(diagnosis))}", ""]
    if unread := unread_phrase(diagnosis):
        lines += [f"**Unread:** {escape(unread)}", ""]
    lines.append(f"**Advice:** {escape(advice(diagnosis))}")
    return [*lines, ""]


def _causes(diagnosis: Diagnosis) -> list[str]:
    if diagnosis.verdict is Verdict.HEALTHY or not diagnosis.causes:
        return []
    cause = diagnosis.causes[0]
    lines = [f"**Cause:** {cause.name} – {escape(cause.summary)}"]
    if told := separation(cause):
        lines.append(f"**Or:** {escape(told)}")
    if cause.confirm_with:
        lines.append(f"**Prove:** {with_commands(confirmation_phrase(cause.confirm_with[0]))}")
    lines += [f"**Do:** {escape(remedy_phrase(remedy))}" for remedy in cause.remedies[:2]]
    told = [*("\n\n".join(lines).split("\n")), ""]
    for patch in (p for remedy in cause.remedies[:2] for p in remedy.patches):
        told += [f"{escape(patch.title)}:", "", "```diff", *(patch_line(line) for line in patch.lines), "```", ""]
    return told
