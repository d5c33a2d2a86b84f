"""The check `failing-call-retried`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import Z95, share
from ...episodes.gate import FEWEST, column, no_calls, percent
from ...table import Table

LIMIT_FRAC = 0.2
"""Lower bound of the share of failed calls. Engineering default."""


@check(
    "AUD107",
    "failing-call-retried",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Show the model the error text in full, and end the episode after a few identical failures.",
    explained_by=("environment-never-came-up",),
)
def look(table: Table) -> Answer:
    """After an error the agent repeats the failing call unchanged, and it fails again.

    What is measured:
        Failed calls that repeat the failed call before them unchanged, as a share of all failed calls, with a
        95 % interval over prompts; and the share of episodes with an error in which a later call succeeded.

    Why it hurts:
        The episode is lost with its first error, and the turns until the cap are spent on nothing.

    Usual causes:
        The error text does not reach the model (cut, masked, in a channel that the template drops);
        demonstrations without recoveries; no reward for recovering.

    What to try:
        Print the prompt of the turn after an error as the model sees it.

    When it is harmless:
        Transient faults: one unchanged retry that succeeds is not counted.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    bad, vain, mended = (column(table, f"agent/{n}") for n in ("failed_calls", "retries_in_vain", "recovered"))
    known = np.isfinite(vain) & (bad > 0)
    if known.sum() < FEWEST:
        return Skip(f"only {int(known.sum())} episodes with a failed call, {FEWEST} are needed", ("more samples",))
    frac, error = share(vain[known], bad[known], table.group[known])
    if not frac - Z95 * error > LIMIT_FRAC:
        return None
    recovered = float(np.nanmean(mended[known]))
    return Symptom(
        f"{percent(frac)} of failed calls repeat the failure before; {percent(recovered)} of such episodes recover",
        "agent/retries_in_vain",
        {"in_vain_frac": frac, "low_frac": frac - Z95 * error, "recovered_frac": recovered,
         "episodes": int(known.sum())},
    )  # fmt: skip
