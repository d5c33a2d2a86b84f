"""The check `returns-without-signal`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import FEWEST, too_few
from ..record import Record

FEW_EACH = 3
"""Successes and failures that must be paid alike. Engineering default: one may be a wrong flag."""


@check(
    "TRJ007",
    "returns-without-signal",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Print the reward of a success and of a failure, and make them differ.",
)
def look(record: Record) -> Answer:
    """Every episode has the same return.

    What is measured:
        The spread of the returns. None: an error where some episodes succeed and some fail, a warning where no step
        is ever paid, else a note.

    Why it hurts:
        Without a difference between episodes there is no advantage, and nothing to learn from.

    Usual causes:
        A reward that is never reached or never wired up; a bonus a step with a fixed length; clipping.

    What to try:
        Drive the environment by hand to a success, and look at the return.

    When it is harmless:
        A solved task whose return is capped.
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    returns = record.summary.returns[np.isfinite(record.summary.returns)]
    if returns.size < FEWEST:
        return Skip("too few returns are finite", ("finite rewards",), True)
    if np.ptp(returns) > 1e-9 * np.abs(returns).max():
        return None
    won, lost = int((record.success == 1).sum()), int((record.success == 0).sum())
    blind = min(won, lost) >= FEW_EACH
    many = f"the return is {returns[0]:.4g} in all {returns.size:,} episodes"
    message = f"{many}: {won:,} succeed, {lost:,} fail" if blind else many
    return Symptom(
        message,
        "reward",
        {"return": float(returns[0]), "episodes": int(returns.size), "succeeded": won, "failed": lost},
        severity=Severity.ERROR if blind else Severity.WARNING if record.unpaid else Severity.INFO,
    )
