"""The words of an inspection's report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...blame import YOURS
from ...check import checks_of
from ...diagnosis import Verdict
from ...finding import Finding
from ...inspection import Inspection
from ..clean import plain
from ..words import count, findings_phrase, number, some

WHAT = {
    "environment": "environment",
    "policy": "policy",
    "reward": "reward",
    "task": "task",
    "data": "data",
    "memory": "memory plan",
    "invariants": "trainer",
    "probes": "trainer",
    "tokens": "token loss",
    "token-probes": "trainer",
    "samples": "samples",
    "trajectories": "trajectories",
    "verifier": "verifier",
    "reward-model": "reward model",
}
"""What the target of each kind of inspection is called."""
STOP = {
    "samples": "do not trust this reward: read the samples named first",
    "trajectories": "do not train on these episodes: mend what is named first",
    "verifier": "do not train on this verifier: mend it first",
    "reward-model": "do not train on this reward model: mend it first",
}
"""What to do about what is broken, where it is not simply to mend it before training."""


def headline(seen: Inspection) -> str:
    """Return what is known of the target in one sentence."""
    what = f"{WHAT[seen.kind]} {plain(seen.target, 80)}"
    first = seen.first_break
    if first is not None:
        return f"BROKEN: {what} in {first.link} ({first.component})"
    if seen.verdict is Verdict.HEALTHY:
        return f"HEALTHY: {what}, as far as {count(seen.looked, 'check')} can tell"
    return f"UNDECIDED: {what}; {why_undecided(seen)}"


def why_undecided(seen: Inspection) -> str:
    """Return what stands between this target and a verdict."""
    warned = [f.name for f in seen.findings if f.severity.rank and not f.ignored and f.consequence_of is None]
    if warned:
        return f"see {some(warned, 2)}"
    if seen.errors:
        return who_failed(seen)
    unseen = [s.name for s in sorted(seen.skipped, key=lambda s: bool(s.unlock_with)) if s.applies]
    return f"{some(unseen, 2)} could not look" if unseen else "nothing could look"


def who_failed(seen: Inspection) -> str:
    """Return whether the code that was looked at raised, or firstbreak's own."""
    theirs = [message for _, message in seen.errors if message.startswith(YOURS)]
    checks = count(len(theirs or seen.errors), "check")
    return f"in {checks} {plain(theirs[0], 100)}" if theirs else f"{checks} of firstbreak failed"


def failures(seen: Inspection) -> list[tuple[str, str]]:
    """Return what went wrong in checks, each message once: (names of the checks, message)."""
    by_message: dict[str, list[str]] = {}
    for name, message in seen.errors:
        by_message.setdefault(message, []).append(name)
    return [(some(names, 5), message) for message, names in by_message.items()]


def coverage(seen: Inspection) -> str:
    """Return how many checks looked, and what would let the others look."""
    applicable = seen.looked + sum(s.applies for s in seen.skipped) + len(seen.errors)
    text = f"{seen.looked} of {count(applicable, 'check')} looked"
    unlock = list(dict.fromkeys(name for s in seen.skipped for name in s.unlock_with))
    return f"{text}; to look further, give {some(unlock, 3)}" if unlock else text


def found(seen: Inspection) -> str:
    """Return how many findings of each severity there are."""
    return findings_phrase(seen.findings)


def advice(seen: Inspection) -> str:
    """Return whether to train."""
    if seen.verdict is Verdict.BROKEN:
        return STOP.get(seen.kind, "do not train yet: mend this first")
    return "go on" if seen.verdict is Verdict.HEALTHY else "look at the open points before a costly run"


def fix(seen: Inspection, finding: Finding) -> str:
    """Return what to do first about a finding."""
    return next((c.fix for c in checks_of(seen.kind) if c.name == finding.name), "")


def step_of(finding: Finding) -> str:
    """Return the step of the episode at which it was seen, `` for what was so from the start."""
    onset = finding.onset
    if onset.hi <= 0:
        return ""
    lo, hi = number(onset.lo), number(onset.hi)
    return f"step {lo}" if lo == hi else f"step {lo} to {hi}"


def evidence(finding: Finding) -> list[tuple[str, str]]:
    """Return the numbers of a finding as text."""
    return [
        (name, number(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else plain(v, 300))
        for name, v in finding.evidence.items()
    ]


def tables(seen: Inspection) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return the tables among the details: (title, columns, rows), everything as text."""
    found: list[tuple[str, list[str], list[list[str]]]] = []
    for entry in cast("Sequence[dict[str, Any]]", seen.details.get("tables", ())):
        rows = [[_cell(value) for value in row] for row in entry["rows"]]
        found.append((plain(entry["title"], 120), [plain(c, 40) for c in entry["columns"]], rows))
    return found


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return plain(value, 200)
