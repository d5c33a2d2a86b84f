"""The check `high-returns-visit-few-states`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ..gate import no_states, too_few
from ..record import Record
from ..visiting import halves

HALF = 0.5
"""Of the cells, and of the episodes that succeed. Engineering default."""
FEWEST_JUDGED = 5
"""Episodes of either half whose success is known. Engineering default."""


@check(
    "TRJ014",
    "high-returns-visit-few-states",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Watch the episodes of the highest return beside those of the lowest.",
    explained_by=("paid-for-standing-still",),
)
def look(record: Record) -> Answer:
    """Episodes of high return visit far fewer states than those of low return.

    What is measured:
        The effective number of cells that the half above the median return visits, divided by that of the half below,
        on as many states: the 95 % interval (bootstrap over episodes) of the ratio lies below one half. A warning
        where the half above fails more often than not and no less often than the half below; clear where it mostly
        succeeds; else a note.

    Why it hurts:
        A policy that found a loop which pays goes round it and leaves the task undone.

    Usual causes:
        A prize that comes back; a checkpoint that pays each time it is crossed; an agent stuck where it is paid.

    What to try:
        Count what is paid for in one of those episodes; ask whether it is the task.

    When it is harmless:
        Tasks of balance or of staying: good episodes are narrow. Store `success` to tell.
    """
    skip = too_few(record) or no_states(record)
    if skip is not None:
        return skip
    found = halves(record)
    if found is None:
        return Skip("the returns hardly differ, so there is no better half", ())
    if found.ratio_high >= HALF:
        return None
    success = np.array([-1 if one.success is None else int(one.success) for one in record.wide])
    better, worse = success[found.better & (success >= 0)], success[found.worse & (success >= 0)]
    if better.size >= FEWEST_JUDGED and fraction_interval(int(better.sum()), better.size)[0] > HALF:
        return None
    fails = (
        min(better.size, worse.size) >= FEWEST_JUDGED
        and fraction_interval(int(better.sum()), better.size)[1] < HALF
        and better.mean() <= worse.mean()
    )
    return Symptom(
        f"high returns visit {found.high:.3g} cells, low ones {found.low:.3g}"
        + (f"; {int(better.sum()):,} of {better.size:,} high ones succeed" if fails else ""),
        "observation",
        {
            "cells_high": found.high,
            "cells_low": found.low,
            "ratio_low": found.ratio_low,
            "ratio_high": found.ratio_high,
        },
        severity=Severity.WARNING if fails else Severity.INFO,
    )
