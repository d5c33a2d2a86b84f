"""The check `failed-call-logged-as-success`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import Z95, share
from ...episodes.gate import column, no_calls, percent
from ...table import Table

LIMIT_FRAC = 0.02
"""Lower bound of the share of calls. Engineering default: a tool may quote an error now and then."""


@check(
    "AUD102",
    "failed-call-logged-as-success",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Set the failure flag of a call from what the tool really answered: its exit code or its error field.",
)
def look(table: Table) -> Answer:
    """Calls are logged as successful although their results say that they were refused.

    What is measured:
        Among calls that the log marks as failed or not, the share marked as not failed whose result opens like
        an error message or is a JSON object that reports an error; with a 95 % interval over prompts.

    Why it hurts:
        Rewards, filters and statistics built on the flag count failures as successes, and the policy learns
        that refused calls are fine.

    Usual causes:
        A wrapper that catches the exception and returns its text; a flag that means `the request was sent`;
        exit codes that nobody reads.

    What to try:
        Compare flag and result of a few such calls by hand, then raise in the wrapper or set the flag from the
        exit code.

    When it is harmless:
        When a tool's proper output opens with the word error, such as a reader of log files.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    wrong, marked = column(table, "agent/failed_unmarked"), column(table, "agent/marked_calls")
    known = np.isfinite(wrong) & (marked > 0)
    if not known.any():
        return Skip("the log does not say which calls failed", ("a failure flag for each tool call",))
    frac, error = share(wrong[known], marked[known], table.group[known])
    if wrong[known].sum() < 3 or frac - Z95 * error <= LIMIT_FRAC:
        return None
    return Symptom(
        f"{percent(frac)} of {int(marked[known].sum()):,} calls are logged as fine, but their results report errors",
        "agent/failed_unmarked",
        {"wrong_frac": frac, "low_frac": frac - Z95 * error, "calls": int(marked[known].sum())},
    )
