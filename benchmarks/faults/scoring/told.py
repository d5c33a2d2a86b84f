"""Every miss and every false alarm by the run's id, with what was said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import scores
from .assessing import BESIDE, FIRSTBREAK, Assessed

Runs = Sequence[Assessed]


def misses(runs: Runs, tool: str = FIRSTBREAK) -> list[dict[str, Any]]:
    """Return fault runs that were not detected, or whose first link is wrong."""
    found: list[dict[str, Any]] = []
    for run in scores.faulty(runs):
        answer = run.answers[tool]
        detected = scores.right_alarm(run, tool) is not None
        named = answer.named in scores.right_links(run)
        if detected and named:
            continue
        assert run.fault is not None
        found.append(
            {
                "id": run.id,
                "link": run.fault.link,
                "detected": detected,
                "verdict": answer.verdict,
                "named": answer.named,
                "rule": answer.rule,
                "causes": list(answer.causes[:2]),
                "alarms": [f"{a.name} at {a.at:.0f}" for a in answer.alarms[:4]],
                "start": run.start,
                "end": run.end,
                "measured_first": list(run.measured.metrics[:6]) if run.measured else [],
                "measured_at": run.measured.at if run.measured else None,
                "left_later": run.measured.later if run.measured else None,
                "measurable": run.measurable,
            }
        )
    return found


def open_misses(runs: Runs) -> list[tuple[str, int, int, int, int]]:
    """Return for each fault: runs without a right alarm, and of these what healthy runs of the task would show.

    The last three count: the right link is alarmed, only another one is, no alarm. Runs that cannot be held against
    healthy ones are left out.
    """
    found: dict[str, list[int]] = {}
    for run in scores.faulty(runs):
        if BESIDE not in run.answers or scores.right_alarm(run, FIRSTBREAK) is not None:
            continue
        assert run.fault is not None
        counts = found.setdefault(run.fault.id, [0, 0, 0, 0])
        right, some = scores.right_alarm(run, BESIDE) is not None, bool(run.answers[BESIDE].alarms)
        counts[0] += 1
        counts[1 if right else 2 if some else 3] += 1
    rows = [(fault, a, b, c, d) for fault, (a, b, c, d) in found.items()]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def false_alarms(runs: Runs, tool: str = FIRSTBREAK) -> list[dict[str, Any]]:
    """Return the alarms on healthy runs, and those before a fault began."""
    found: list[dict[str, Any]] = []
    for run in runs:
        alarms = run.answers[tool].alarms if run.fault is None else scores.early_alarms(run, tool)
        found.extend(
            {
                "id": run.id,
                "kind": run.kind if run.fault is None else "before the fault",
                "rule": alarm.name,
                "severity": alarm.severity,
                "at_frac": alarm.at / run.end if run.end else None,
                "message": alarm.message,
                "verdict": run.answers[tool].verdict,
            }
            for alarm in alarms
        )
    return found


def confident_errors(runs: Runs) -> list[dict[str, Any]]:
    """Return the confident wrong answers once the key metric was gone."""
    return [
        {"id": run.id, "removed": list(run.removed[0]), "what": what, "rule": run.removed[1].rule}
        for run in scores.faulty(runs)
        if run.removed is not None and (what := scores.confidently_wrong(run))
    ]


def unstable(runs: Runs) -> list[dict[str, Any]]:
    """Return the runs of the sample that are told otherwise under a variant."""
    found: list[dict[str, Any]] = []
    for run in runs:
        before = run.answers[FIRSTBREAK]
        for name, after in run.variants.items():
            if (after.verdict, after.named) != (before.verdict, before.named):
                said = f"{before.verdict} {before.named} -> {after.verdict} {after.named}"
                found.append({"id": run.id, "variant": name, "what": said, "rule": after.rule})
    return found


def rule_errors(runs: Runs) -> list[str]:
    """Return the rules that failed: faults of firstbreak."""
    return sorted({f"{error} ({run.id})" for run in runs for error in run.answers[FIRSTBREAK].errors})
