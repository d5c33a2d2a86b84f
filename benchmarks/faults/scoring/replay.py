"""A recorded run given to a live monitor row by row, at the run's own pace: for the lead time that a user would have.

A post-mortem looks at ticks a quarter of the run apart; a monitor looks as often as its share of the wall time allows,
and at once where a value is new in kind. The clock it sees moves on between rows as it did in training, and by what
its own looks cost.
"""

from __future__ import annotations

import time

from firstbreak.monitor.core import Monitor

from .answer import Alarm
from .corpus import Run
from .logs import SB3, TRL, rows


def live_alarms(run: Run) -> tuple[Alarm, ...]:
    """Return the alarms that a monitor raises on the rows of `run`."""
    told = rows(run)
    pace = run.cpu_s / max(1, len(told))
    passed = [0.0]
    start = time.perf_counter()
    sb3 = run.framework in SB3 and not run.canonical
    framework = "stable_baselines3" if sb3 else "trl" if run.framework in TRL else ""
    monitor = Monitor(
        None,
        algorithm=run.algorithm,
        framework=framework,
        clock=run.clock,
        config=dict(run.config),
        timer=lambda: passed[0] + time.perf_counter() - start,
    )
    for step, row in told:
        passed[0] += pace
        monitor.log(row, step=step)
    if run.died:
        kind, _, message = run.died.partition(": ")
        # A `with` is told of an exception; the type's name is all that is kept of it.
        monitor.__exit__(kind, RuntimeError(message), None)  # pyright: ignore[reportArgumentType]
    monitor.close()
    return tuple(
        Alarm(a.finding.name, (str(a.finding.link),), float(a.at), a.finding.message, str(a.finding.severity))
        for a in monitor.alarms
    )
