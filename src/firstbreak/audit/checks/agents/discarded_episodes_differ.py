"""The check `discarded-episodes-differ`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import NOTHING, difference, growth
from ...episodes.gate import RISE, column, no_calls
from ...table import Table

FEWEST = 20
"""Episodes on either side. Engineering default."""
KEPT = ("score/accepted", "score/kept", "score/trained_on", "score/effective")
DROPPED = ("score/discarded", "score/dropped", "score/rejected", "score/timed_out", "score/aborted", "score/filtered")
"""What the log may call whether an episode was trained on."""
SUCCESS_GAP = 0.1
"""Difference of success that matters, beyond its interval. Engineering default."""


@check(
    "AUD122",
    "discarded-episodes-differ",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Batch by the order of launch and mask what timed out, instead of dropping whole groups.",
)
def look(table: Table) -> Answer:
    """Episodes that were discarded differ from those that were trained on: the training data is biased.

    What is measured:
        Calls per episode and success of the discarded episodes against the kept ones, with 95 % intervals over
        prompts.

    Why it hurts:
        What times out is long and hard. Dropped with its group, the short and easy prompts fill the batches;
        reward rises without learning.

    Usual causes:
        Time limits; groups thrown away as a whole when one member is late; filters on length.

    What to try:
        Compare success by the order of launch, discarded episodes included.

    When it is harmless:
        When groups without spread are dropped on purpose (dynamic sampling): they then differ in success, not
        in calls.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, for dropping by success.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    kept = next((column(table, name) for name in KEPT if table.get(name) is not None), None)
    if kept is None:
        kept = next((1 - column(table, name) for name in DROPPED if table.get(name) is not None), None)
    if kept is None:
        return Skip("the log does not say which episodes were discarded", ("a number `accepted`, 1 or 0, a sample",))
    calls, success = column(table, "agent/calls"), column(table, "success")
    known = np.isfinite(kept) & np.isfinite(calls)
    used, gone = known & (kept > 0.5), known & (kept <= 0.5)
    if min(used.sum(), gone.sum()) < FEWEST:
        return Skip(f"only {int(gone.sum())} discarded episodes, {FEWEST} are needed")
    longer = growth(calls, np.ones(table.n), table.group, used, gone)
    told = np.isfinite(success)
    better = difference(np.nan_to_num(success), table.group, gone & told, used & told) if told.any() else NOTHING
    if longer.low <= RISE and longer.high >= 1 / RISE and better.low <= SUCCESS_GAP and better.high >= -SUCCESS_GAP:
        return None
    gap = f", success {100 * -better.value:+.0f} points" if np.isfinite(better.value) else ""
    return Symptom(
        f"{int(gone.sum())} discarded episodes have {longer.value:.2g} times the calls of the kept ones{gap}",
        "agent/calls",
        {"discarded": int(gone.sum()), "kept": int(used.sum()), "calls_ratio": longer.value, "low": longer.low,
         "high": longer.high},
    )  # fmt: skip
