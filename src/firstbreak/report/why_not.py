"""Answers "why did this rule not speak?" (or why it did) for one run."""

from __future__ import annotations

from ..blame import whose_fault
from ..diagnosis import Diagnosis
from ..rule import Rule
from .clean import plain
from .page import PLAIN, Face, Page
from .words import onset_phrase, short_path


def why_not(diagnosis: Diagnosis, rule: Rule, face: Face = PLAIN) -> str:
    """Return how `rule` ended on this run, and what it would need."""
    page = Page(face)
    page.heading(f"Why not {rule.name}? ({short_path(diagnosis.log.path)})")
    for ending, text in _endings(diagnosis, rule):
        page.entry(ending, text)
    page.entry("more", f"firstbreak explain {rule.name}")
    return page.text()


def _endings(diagnosis: Diagnosis, rule: Rule) -> list[tuple[str, str]]:
    fired = [f for f in diagnosis.findings if f.name == rule.name]
    if fired:
        return [
            ("fired", f"{plain(f.message, 200)}, {onset_phrase(f.onset, diagnosis.log)}")
            if not f.ignored
            else ("ignored", f"{plain(f.message, 200)} ({plain(f.ignored, 200)})")
            for f in fired
        ]
    if rule.name in diagnosis.clear:
        looked = [m for m in rule.metrics if m in diagnosis.log.metrics]
        return [("clear", f"it looked at {', '.join(looked) or 'the configuration'} and found nothing")]
    for skipped in diagnosis.coverage.skipped:
        if skipped.name == rule.name:
            unlock = f"; unlock it with {', '.join(skipped.unlock_with)}" if skipped.unlock_with else ""
            return [("skipped", plain(skipped.reason, 200) + plain(unlock, 200))]
    for name, message in diagnosis.coverage.errors:
        if name == rule.name:
            return [("failed", f"{plain(message, 300)}{whose_fault(message, 'run')}")]
    return [("off", "it was not among the selected rules")]
