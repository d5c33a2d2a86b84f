"""The check `doing-nothing-pays`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import Z95, difference, share, within
from ...episodes.gate import Flags, Floats, column, no_calls
from ...table import Table

FEWEST = 10
"""Episodes on either side. Engineering default."""
BASELINES = ("score/do_nothing_reward", "score/noop_reward", "score/baseline_reward")
"""What the log may call the reward of an agent that does nothing."""


@check(
    "AUD121",
    "doing-nothing-pays",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Lower the penalty per call, or raise what a success pays, until acting beats doing nothing.",
)
def look(table: Table) -> Answer:
    """Doing nothing is paid better than acting: episodes without a tool call beat those of the same prompts with calls.

    What is measured:
        The mean reward of episodes without calls less that of episodes with calls, among prompts that have
        both, with a 95 % interval; or the logged reward of a do-nothing baseline less the reward.

    Why it hurts:
        The way to more reward is then to call nothing, and training will take it.

    Usual causes:
        A penalty per call or per turn that outweighs the task; a judge of texts; tasks that need no tool.

    What to try:
        Play twenty prompts with an agent that answers at once; no trained agent should score lower.

    When it is harmless:
        When the episodes without calls really succeed more often: where success is logged, those are left
        alone.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    reward, calls = column(table, "reward"), column(table, "agent/calls")
    rows = np.isfinite(reward) & np.isfinite(calls)
    base = next((column(table, name) for name in BASELINES if table.get(name) is not None), None)
    if base is not None and (rows & np.isfinite(base)).sum() >= FEWEST:
        known = rows & np.isfinite(base)
        mean, error = share((base - reward)[known], known[known], table.group[known])
        low = mean - Z95 * error
        return _symptom("a do-nothing baseline", mean, low, int(known.sum())) if low > 0 else None
    idle, acts = rows & (calls == 0), rows & (calls > 0)
    rows &= np.isin(table.group, np.intersect1d(table.group[idle], table.group[acts]))
    idle, acts = idle & rows, acts & rows
    if min(idle.sum(), acts.sum()) < FEWEST:
        return Skip("too few prompts have episodes both with and without a call")
    gap = difference(_centred(reward, rows, table), table.group, acts, idle)
    success = column(table, "success")
    if np.isfinite(success[rows]).all():
        better = difference(_centred(success, rows, table), table.group, acts, idle)
        if better.low > 0:
            return None
    return _symptom("episodes without a call", gap.value, gap.low, int(idle.sum())) if gap.low > 0 else None


def _centred(values: Floats, rows: Flags, table: Table) -> Floats:
    """Return `values` [N] less the mean of their prompt in `rows`, 0 elsewhere."""
    out = np.zeros(table.n)
    out[rows] = within(values[rows], table.group[rows])
    return out


def _symptom(who: str, gap: float, low: float, episodes: int) -> Symptom:
    return Symptom(
        f"{who} earn {gap:.3g} more reward than acting ({episodes} episodes)",
        "reward",
        {"gap": gap, "low": low, "episodes": episodes},
    )
