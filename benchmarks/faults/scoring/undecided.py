"""Why a fault was missed: what no log of one run can show, what was not measured, and what the log may decide."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from . import scores
from .assessing import FIRSTBREAK, Assessed

HERE = Path(__file__).resolve().parents[1]
REASONS, BEFORE = HERE / "undecidable.toml", HERE / "before.json"
Runs = Sequence[Assessed]


@dataclass(frozen=True)
class Reason:
    """Why logs of one run do not decide some faults. One line of `undecidable.toml`."""

    id: str
    title: str
    argument: str
    settled_by: Mapping[str, str]
    """Fault -> what shows it."""
    whole_run: bool = False
    """It holds only where the fault was there from the first step."""

    def holds(self, run: Assessed) -> bool:
        """Whether `run` is undecided for this reason."""
        assert run.fault is not None
        return run.fault.id in self.settled_by and not (self.whole_run and run.mid_run)


OURS = Reason("ours", "the log may decide it", "Rules that would see it are missing, or look past it.", {})


@cache
def reasons() -> tuple[Reason, ...]:
    """Return the reasons in the order in which they are listed; what none of them covers is `OURS`."""
    listed = tomllib.loads(REASONS.read_text("utf-8"))["reason"]
    return (*map(reason, listed), OURS)


def reason(entry: Mapping[str, Any]) -> Reason:
    """Return one entry of the list."""
    return Reason(
        entry["id"],
        entry["title"],
        " ".join(entry["argument"].split()),
        entry["settled_by"],
        entry.get("whole_run", False),
    )


def reason_of(run: Assessed) -> Reason:
    """Return why a missed run was missed."""
    return next((one for one in reasons() if one.holds(run)), OURS)


def missed(runs: Runs) -> list[Assessed]:
    """Return the faulty runs without an alarm at a right link."""
    return [run for run in scores.faulty(runs) if scores.right_alarm(run, FIRSTBREAK) is None]


def said(run: Assessed) -> str:
    """Return what the report of a missed run comes to: how wrong it is for whoever trusts it."""
    answer = run.answers[FIRSTBREAK]
    right = scores.right_links(run)
    if answer.verdict == "broken":
        return "broken elsewhere" if right.isdisjoint((answer.named, *answer.rivals)) else "broken, named beside it"
    if answer.verdict == "healthy":
        return "healthy" if not right.isdisjoint(answer.claimed) else "healthy in what was seen"
    return "undecided"


def told_what_settles(run: Assessed) -> bool:
    """Return whether the report of a missed run leads to the fault: it says which evidence would settle a right link.

    One that calls the run broken elsewhere does so where it names a right link beside that.
    """
    answer, right = run.answers[FIRSTBREAK], scores.right_links(run)
    return not right.isdisjoint(answer.open) or not right.isdisjoint((answer.named, *answer.rivals))


SAID = ("healthy", "broken elsewhere", "broken, named beside it", "undecided", "healthy in what was seen")
"""The answers to a missed run, the worst first."""


def by_reason(runs: Runs) -> list[tuple[Reason, Counter[str]]]:
    """Return for each reason that occurs what is said of the runs that were missed for it."""
    found: dict[str, Counter[str]] = {}
    for run in missed(runs):
        found.setdefault(reason_of(run).id, Counter())[said(run)] += 1
    return [(one, found[one.id]) for one in reasons() if one.id in found]


def by_fault(runs: Runs) -> list[tuple[str, int, tuple[Reason, ...], int, int, tuple[str, ...]]]:
    """Return for each missed fault: runs, the reasons, how many are found before a run of those looked at, by what."""
    found: dict[str, list[Assessed]] = {}
    for run in missed(runs):
        assert run.fault is not None
        found.setdefault(run.fault.id, []).append(run)
    rows: list[tuple[str, int, tuple[Reason, ...], int, int, tuple[str, ...]]] = []
    for fault, members in sorted(found.items(), key=lambda one: (-len(one[1]), one[0])):
        seen = [before_run(run) for run in members]
        asked = [one for one in seen if one is not None]
        names = tuple(sorted({name for one in asked for name in one}))
        why = {reason.id: reason for reason in map(reason_of, members)}
        rows.append((fault, len(members), tuple(why.values()), sum(map(bool, asked)), len(asked), names))
    return rows


def before_run(run: Assessed) -> tuple[str, ...] | None:
    """Return what `preflight` says of the fault of this run before it begins, None where it was not asked."""
    assert run.fault is not None
    return looked().get((run.fault.id, run.subject, run.task))


@cache
def looked() -> Mapping[tuple[str, str, str], tuple[str, ...]]:
    """Return what `python -m benchmarks.faults.before` wrote down."""
    rows = json.loads(BEFORE.read_text("utf-8"))
    return {(row["fault"], row["subject"], row["task"]): tuple(row["said"]) for row in rows if row["said"] is not None}
