"""What a verdict of healthy cannot mean, however much was looked at."""

from __future__ import annotations

from .diagnosis import Verdict
from .runlog import RunLog

MEANT = (
    "one log cannot show that reward and world are the ones you meant: a healthy run beside it can (--baseline), or "
    "`firstbreak preflight env` and `reward`"
)


def limits(log: RunLog, verdict: Verdict) -> tuple[str, ...]:
    """Return what a healthy verdict of `log` leaves open in principle; nothing of others.

    A reward of the wrong sign, a hidden velocity or a frame skip from the first step on is another task: its log is
    that of a healthy run of that task. Most of what the fault benchmark misses from the log alone is missed for this
    reason (docs/faults_results.md). Healthy runs of the task that was meant tell the two apart.
    """
    compared = log.against is not None and log.against.compared
    return (MEANT,) if verdict is Verdict.HEALTHY and not compared else ()
