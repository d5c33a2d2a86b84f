"""The labelled runs of `tests/data/logs`, and what counts as a right answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from firstbreak.api import diagnose_log, load_runs
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.finding import Severity
from firstbreak.runlog import RunLog

LOGS = Path(__file__).parents[1] / "data" / "logs"


@dataclass(frozen=True)
class Label:
    """What is known of a run. `verdicts` are the right ones; `link` that of the first break, if broken.

    `missed` is the wrong answer that firstbreak is known to give, `healthy` or a link: it is no regression.
    """

    name: str
    framework: str
    algorithm: str
    verdicts: tuple[Verdict, ...]
    link: str
    injected: bool = True
    """False for a run without an injected fault, whatever its label says: an alarm on it counts as an alarm."""
    missed: str = ""


def labels() -> list[Label]:
    """Return every labelled run."""
    table = json.loads((LOGS / "labels.json").read_text("utf-8"))
    return [
        Label(
            name=name,
            framework=entry["framework"],
            algorithm=entry["algorithm"],
            verdicts=tuple(Verdict(v) for v in entry["verdict"].split(" or ")),
            link=entry.get("link", ""),
            injected=entry.get("injected", True),
            missed=entry.get("missed", ""),
        )
        for name, entry in table.items()
    ]


@cache
def runs_of(name: str) -> tuple[RunLog, ...]:
    """Return the runs read from a labelled folder."""
    return tuple(load_runs(LOGS / name))


def judge(log: RunLog) -> Diagnosis:
    """Diagnose without any settings file."""
    return diagnose_log(log, Settings())


def link_of(diagnosis: Diagnosis) -> str:
    """Return the link that the diagnosis puts first, `""` when it names none."""
    if diagnosis.first_break is not None:
        return diagnosis.first_break.link.value
    return ""


def alarms(diagnosis: Diagnosis) -> list[str]:
    """Return the findings at warning or above, as text."""
    return [
        f"{f.severity} {f.name}: {f.message}"
        for f in diagnosis.findings
        if f.severity in (Severity.ERROR, Severity.WARNING) and not f.ignored
    ]


def wrong(label: Label, diagnosis: Diagnosis, *, may_abstain: bool = False) -> str:
    """Return what is wrong with the answer, `""` when it is right. `may_abstain` allows undecided for a broken run."""
    verdict = diagnosis.verdict
    if Verdict.BROKEN in label.verdicts:
        if label.missed and label.missed in (str(verdict), link_of(diagnosis)):
            return ""
        if verdict is Verdict.BROKEN and link_of(diagnosis) != label.link:
            return f"first link {link_of(diagnosis)}, should be {label.link}"
        if verdict not in label.verdicts and not (verdict is Verdict.UNDECIDED and may_abstain):
            return f"verdict {verdict}, should be broken at {label.link}"
        return ""
    raised = alarms(diagnosis)
    if raised:
        return "false alarm: " + "; ".join(raised)
    if verdict not in label.verdicts and not (may_abstain and verdict is Verdict.UNDECIDED):
        return f"verdict {verdict}, should be {' or '.join(label.verdicts)}: {diagnosis.coverage.profile_missing}"
    return ""
