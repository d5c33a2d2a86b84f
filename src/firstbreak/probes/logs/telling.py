"""What a report says of the logs that a black-box script wrote."""

from __future__ import annotations

from typing import Any

from ..ladder.outcome import Outcome
from ..ladder.trial import Trial
from .logged import Told


def log_notes(trial: Trial) -> list[str]:
    """Return one line on what was read; empty unless a script was on trial."""
    seen = [o.log for o in trial.outcomes if o.log is not None]
    if not seen:
        return []
    read = [log for log in seen if log.metrics]
    if not read:
        return [f"no log was read in {len(seen)} trainings; log to TensorBoard, CSV or JSONL in the working folder"]
    readers = ", ".join(sorted({r for log in read for r in log.readers}))
    looked = max(log.looked for log in read)
    return [f"logs of {len(read)} of {len(seen)} trainings were read ({readers}); up to {looked} rules looked"]


def log_table(trial: Trial) -> list[dict[str, Any]]:
    """Return the table of findings in the logs of failed rungs, as a list of one or none."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for o, told in _of_failed(trial):
        rows.setdefault((o.rung, o.kind, told.name), [o.rung, o.kind, told.severity.value, told.name, told.message])
    if not rows:
        return []
    columns = ["rung", "actions", "severity", "rule", "message"]
    return [{"title": "The script's logs, where a rung failed", "columns": columns, "rows": list(rows.values())}]


def _of_failed(trial: Trial) -> list[tuple[Outcome, Told]]:
    """Each rule speaks once a rung and action space: of several trainings the first."""
    failed = [o for o in trial.outcomes if o.log is not None and o.rung in trial.failed]
    return [(o, told) for o in failed if o.log is not None for told in o.log.told]
