"""The check `actions-at-their-bounds`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import percent, too_few
from ..record import Record

MANY, NEARLY_ALL = 0.5, 0.9
"""Share from which on it is a note and a warning. Engineering default."""


@check(
    "TRJ005",
    "actions-at-their-bounds",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    fix="Plot the actions before they are clipped, and lower the deviation or scale the actions.",
)
def look(record: Record) -> Answer:
    """Nearly all continuous actions lie at their least or greatest value.

    What is measured:
        The share of the entries of continuous actions that equal the least or greatest value of their dimension: a
        warning above 90 %, a note above 50 %, and a note where it is all of them: a switch by design leaves nothing
        in between, clipping does.

    Why it hurts:
        Beyond the bound the action has no effect, so its gradient is noise; the policy has become a switch.

    Usual causes:
        A deviation far wider than the range; unscaled actions; a tanh that is saturated.

    What to try:
        Compare the actions of the policy with those that the environment was given.

    When it is harmless:
        Tasks whose best control is a switch (Seyde et al. 2021, arXiv 2111.02552).
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    share = record.summary.at_bound_frac
    if not np.isfinite(share):
        return Skip("the actions are discrete")
    if share <= MANY:
        return None
    return Symptom(
        f"{percent(share)} of the entries of the actions lie at a bound",
        "action",
        {"at_bound_frac": share},
        severity=None if NEARLY_ALL < share < 1 else Severity.INFO,
    )
