"""From the folder of a script to a `Logged`: the readers, the vocabulary and the rules of `diagnose`, nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...config import Settings, chosen_rules
from ...diagnosis import Diagnosis
from ...engine import run_rules
from ...errors import FirstbreakError
from ...loading import load_runs
from ...reasoning import reason
from ...runlog import RunLog
from ...series import Series
from .logged import LateReturn, Logged, Told

RETURNS = (
    "reward/eval_return_mean",
    "reward/raw_episode_return",
    "reward/episode_return_mean",
    "reward/episode_return",
)
"""Metrics that hold what episodes paid, the surest first: evaluations draw no actions at random, and a raw return is
the environment's own."""
FEWEST_LATE = 4
"""Rows of the last quarter below which their mean says nothing. Engineering default."""


def read_folder(folder: Path) -> Logged:
    """Return what the script's folder holds; a log that cannot be read is told, never raised."""
    try:
        logs = load_runs(folder)
    except FirstbreakError as error:
        return Logged(unread=error.message.replace(str(folder), "its folder"))
    seen = [diagnosed(log) for log in logs]
    return Logged(
        readers=tuple(sorted({r for log in logs for r in log.provenance.readers})),
        metrics=tuple(sorted({m for log in logs for m in log.metrics})),
        told=_told(seen),
        looked=max((d.coverage.looked for d in seen), default=0),
        late_return=next((r for r in map(late_return, logs) if r is not None), None),
    )


def diagnosed(log: RunLog) -> Diagnosis:
    """Put every rule to `log`, as `firstbreak diagnose` does without settings of the user."""
    return reason(log, run_rules(log, chosen_rules(Settings())))


def late_return(log: RunLog) -> LateReturn | None:
    """Return the mean return of the last quarter of the log, or None where it holds none."""
    for metric in RETURNS:
        series = log.get(metric)
        if series is not None and len(series):
            return _of_last_quarter(series)
    return None


def _of_last_quarter(series: Series) -> LateReturn | None:
    begin = series.step[0] + 0.75 * (series.step[-1] - series.step[0])
    values = series.value[series.step >= begin]
    values = values[np.isfinite(values)]
    if len(values) < FEWEST_LATE:
        return None
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return LateReturn(series.metric, float(values.mean()), error, len(values))


def _told(seen: Sequence[Diagnosis]) -> tuple[Told, ...]:
    """The findings at warning or above, each name once."""
    found: dict[str, Told] = {}
    for diagnosis in seen:
        for f in diagnosis.findings:
            if f.severity.rank and not f.ignored:
                told = Told(f.name, f.severity, f.link, f.component, f.message, f.consequence_of is not None)
                found.setdefault(f.name, told)
    return tuple(found.values())
