"""What a verdict of healthy cannot mean, however much was looked at."""

from __future__ import annotations

from .diagnosis import Verdict
from .runlog import RunLog

MEANT = (
    "one log cannot show that reward and world are the ones you meant: a healthy run beside it can (--baseline), or "
    "`firstbreak preflight env` and `reward`"
)
WHOLE = 0.9
"""Share of the planned steps from which on a log counts as one to the end: loggers write every so many steps."""


def limits(log: RunLog, verdict: Verdict) -> tuple[str, ...]:
    """Return what a healthy verdict of `log` leaves open in principle; nothing of others.

    A reward of the wrong sign, a hidden velocity or a frame skip from the first step on is another task: its log is
    that of a healthy run of that task. Most of what the fault benchmark misses from the log alone is missed for this
    reason (docs/faults_results.md). Healthy runs of the task that was meant tell the two apart.
    """
    compared = log.against is not None and log.against.compared
    meant = (MEANT,) if verdict is Verdict.HEALTHY and not compared else ()
    return meant + (ends_early(log) if verdict is not Verdict.BROKEN else ())


def ends_early(log: RunLog) -> tuple[str, ...]:
    """Return what to say of a log that ends before the steps that were planned, where its state is not known."""
    total = log.config.get("total_steps")
    if log.state or isinstance(total, bool) or not isinstance(total, int | float) or not log.series:
        return ()
    taken = log.last_step if log.clock == "env_steps" else None
    if log.clocks is not None and taken is None:
        taken = log.clocks.convert(log.last_step, "env_steps")
    if taken is None or not 0 < taken < WHOLE * total:
        return ()
    return (f"the log ends at step {taken:,.0f} of {total:,.0f}: if nothing writes to it any more, the run died",)
