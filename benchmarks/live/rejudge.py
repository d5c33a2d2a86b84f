"""What the rules of today say of rows that were recorded: the run is replayed to a fresh monitor at its own pace.

Used where rules changed after a training was run. The looks that time allows depend on how fast rows came, so the clock
that the monitor sees moves on between rows as it did then, and by what the looks cost now in processor time: other work
on the machine would otherwise look like a training that slows down.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from firstbreak.monitor.core import Monitor


def rejudged(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the alarms that a monitor raises on the rows of `run`."""
    pace = (run["seconds"] - run["monitor_seconds"]) / max(1, len(run["rows"]))
    passed = [0.0]
    start = time.process_time()
    own = "stable_baselines3" if run["subject"].startswith("sb3") else "trl" if run["subject"] == "grpo" else ""
    framework = run.get("framework", own)
    monitor = Monitor(
        None,
        algorithm=run["algorithm"],
        framework=framework,
        clock=run["clock"],
        config=run["config"],
        timer=lambda: passed[0] + time.process_time() - start,
    )
    for step, row in run["rows"]:
        passed[0] += pace
        monitor.log({key: float(value) for key, value in row.items()}, step=step)
    if run["died"]:
        monitor.__exit__(*as_raised(run["died"]))
    monitor.close()
    assert monitor.faults == [], monitor.faults
    return [told(alarm) for alarm in monitor.alarms]


def as_raised(text: str) -> tuple[str, Exception, None]:
    """Return what a `with` was told of an exception that was kept as "type: message"."""
    kind, _, message = text.partition(": ")
    return kind, RuntimeError(message), None


def told(alarm: Any) -> dict[str, Any]:
    """Return an alarm as it is kept with a run."""
    finding = alarm.finding
    return {
        "at": alarm.at,
        "row": alarm.row,
        "name": finding.name,
        "link": str(finding.link),
        "severity": str(finding.severity),
        "message": finding.message,
        "cause": alarm.cause,
        "onset": finding.onset.lo,
        "alerted": alarm.alerted,
    }
