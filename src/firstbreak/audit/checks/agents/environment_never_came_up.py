"""The check `environment-never-came-up`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...episodes.gate import column, hits, no_calls, percent
from ...table import Table

LIMIT_FRAC = 0.01
"""Lower bound of the share of such episodes. Engineering default: retries absorb less than that."""
WHOLE = 5
"""Episodes of one worker that must all be such for the worker to be named. Engineering default."""


@check(
    "AUD101",
    "environment-never-came-up",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Mark such episodes as set-up failures, leave them out of the loss, and restart the workers named.",
)
def look(table: Table) -> Answer:
    """The environment of some episodes never came up: every call failed, and the policy is trained on it.

    What is measured:
        The share of episodes all of whose calls failed with words of a missing environment (connection refused,
        no such container, not initialised, timed out), or in the same words for three different calls of
        different tools; Wilson's interval; and the workers or files all of whose episodes are such.

    Why it hurts:
        Nothing the policy did could have succeeded. Paid 0 and trained on, these episodes teach that the task,
        the tools or the worker's prompts are hopeless.

    Usual causes:
        A container or browser that did not start; a port in use; a worker without network; a time limit on the
        reset shorter than the reset.

    What to try:
        Check the environment with one call before the policy plays; on failure start it anew; count set-up
        failures as a metric of their own.

    When it is harmless:
        Where such episodes carry a loss mask of 0. Refusals that the policy earned itself (a taken slot, a
        wrong path) are not counted.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    found, n, low, high = hits(table, "agent/never_up")
    dead = _dead_workers(table)
    if found < 3 or (low <= LIMIT_FRAC and not dead):
        return None
    where = f"; {dead} worker{'s' * (dead > 1)} never had one" if dead else ""
    return Symptom(
        f"{percent(found / n)} of {n} episodes never had an environment: every call failed{where}",
        "agent/never_up",
        {"episodes": n, "never_up": found, "low_frac": low, "high_frac": high, "dead_workers": dead},
        severity=Severity.ERROR if dead else None,
    )


def _dead_workers(table: Table) -> int:
    """Count workers of at least `WHOLE` episodes, all without an environment, where there are other workers."""
    worker, absent = column(table, "agent/worker"), column(table, "agent/never_up")
    known = np.isfinite(worker) & np.isfinite(absent)
    names, place = np.unique(worker[known], return_inverse=True)
    if names.size < 2:
        return 0
    size = np.bincount(place, minlength=names.size)
    return int(((np.bincount(place, absent[known], names.size) == size) & (size >= WHOLE)).sum())
