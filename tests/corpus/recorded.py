"""The runs recorded with an injected fault and their healthy companions: how often firstbreak is right.

Labels come from the fault that was injected, not from what firstbreak says; some faults cannot be decided from a log,
and for those abstaining is right. The runs served to find mistakes in the rules, so the figures are no detection rate
on unseen runs.
"""

from __future__ import annotations

from collections import Counter

from firstbreak.diagnosis import Verdict
from firstbreak.runlog import RunLog

from .labels import Label, alarms, judge, labels, link_of

FOLDERS = ("sb3_runs/", "loop_runs/")


def is_recorded(label: Label) -> bool:
    """Whether the run was recorded for this corpus (and not given with its label)."""
    return label.name.startswith(FOLDERS)


def recorded_labels() -> list[Label]:
    """Return the labels of the recorded runs."""
    return [label for label in labels() if is_recorded(label)]


def outcome(label: Label, log: RunLog) -> str:
    """Return how one answer counts.

    For a run that is broken: `right link`, `abstained`, `wrong link` or `called healthy`; for one that is not:
    `quiet`, or `alarmed` when anything is at warning or above.
    """
    diagnosis = judge(log)
    if Verdict.BROKEN not in label.verdicts or not label.injected:
        return "alarmed" if alarms(diagnosis) else "quiet"
    if diagnosis.verdict is Verdict.BROKEN:
        return "right link" if link_of(diagnosis) == label.link else "wrong link"
    if diagnosis.verdict is Verdict.HEALTHY:
        return "called healthy"
    leading = diagnosis.causes[0].link.value if diagnosis.causes else ""
    return "right link" if leading == label.link else "abstained"


def tally(rows: list[tuple[Label, RunLog]]) -> tuple[Counter[str], list[str]]:
    """Return the counts of outcomes, and a line for every answer that is plainly wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for label, log in rows:
        how = outcome(label, log)
        counts[how] += 1
        if how in ("wrong link", "called healthy", "alarmed"):
            wrong.append(f"{label.name}: {how}" + (f" (should be {label.link})" if label.link else ""))
    return counts, wrong
