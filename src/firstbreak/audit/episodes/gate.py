"""What the checks of agents need before they look, and what they read off the table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...finding import Skip
from ...preflight.reward.measures import fraction_interval
from ..table import Table

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FEWEST = 20
"""Episodes below which a share says nothing: its 95 % interval is then wider than 0.4. Engineering default."""
FEWEST_EACH = 24
"""Episodes at either end of the training steps. Engineering default."""
RISE = 1.25
"""Lower bound of the growth from the first to the last third of the steps. Engineering default."""


def no_calls(table: Table, least: int = FEWEST) -> Skip | None:
    """Return why agents cannot be judged: no calls in the log, or too few episodes."""
    calls = table.get("agent/calls")
    if calls is None or not np.nansum(calls) > 0:
        return Skip("the samples hold no tool calls")
    known = int(np.isfinite(calls).sum())
    if known < least:
        return Skip(f"only {known} episodes with turns, {least} are needed", ("more samples",))
    return None


def column(table: Table, name: str) -> Floats:
    """Return a column [N] as float64, all NaN where the table lacks it."""
    found = table.get(name)
    return np.full(table.n, np.nan) if found is None else found.astype(np.float64)


@dataclass(frozen=True)
class Outcome:
    """Whether each episode came out well [N] (1, 0 or NaN), and the word for it."""

    good: Floats
    word: str
    """`success`, or `paid episode` where the log knows no success."""
    real: bool
    """Whether it is the success of the environment itself."""


def outcome(table: Table) -> Outcome | None:
    """Return the successes, or the paid episodes where no success is logged; None where neither is known."""
    success = table.get("success")
    if success is not None:
        return Outcome(success.astype(np.float64), "success", True)
    high = paid(table)
    return None if high is None else Outcome(high, "paid episode", False)


def paid(table: Table) -> Floats | None:
    """Return 1 where the reward lies above the middle between its 2 % and its 98 % quantile [N], else 0; NaN unknown.

    None where no reward is known or all are alike.
    """
    reward = table.get("reward")
    if reward is None:
        return None
    known = np.isfinite(reward)
    if not known.any():
        return None
    low, high = np.quantile(reward[known].astype(np.float64), [0.02, 0.98])
    if not high > low:
        low, high = float(reward[known].min()), float(reward[known].max())
    if not high > low:
        return None
    return np.where(known, (reward > (low + high) / 2).astype(float), np.nan)


def how_many_paid(table: Table, rows: Flags) -> tuple[int, str]:
    """Return how many of `rows` [N] were paid, and the words for it; 0 where the rewards do not tell."""
    high = paid(table)
    if high is None:
        return 0, "no reward tells which were paid"
    count = int((high[rows] == 1).sum())
    return count, f"{count} of these {int(rows.sum())} were paid"


@dataclass(frozen=True)
class Ends:
    """The first and the last third of the training steps, among the rows that are known."""

    early: Flags
    late: Flags


def ends(table: Table, *needed: Floats) -> Ends | Skip:
    """Return the rows [N] of the first and the last third of the steps in which all of `needed` are known."""
    step = table.get("step")
    if step is None:
        return Skip("the samples carry no training step", ("step",))
    known = np.isfinite(step) & np.all([np.isfinite(v) for v in needed], axis=0)
    if known.sum() < 2 * FEWEST_EACH:
        return Skip(f"only {int(known.sum())} episodes with a step, {2 * FEWEST_EACH} are needed", ("more samples",))
    low, high = np.quantile(step[known], [1 / 3, 2 / 3])
    early, late = known & (step <= low), known & (step >= high) & (step > low)
    if early.sum() < FEWEST_EACH or late.sum() < FEWEST_EACH:
        return Skip("the episodes lie at too few training steps to compare the first with the last", ("more steps",))
    return Ends(early, late)


def hits(table: Table, name: str, among: Flags | None = None) -> tuple[int, int, float, float]:
    """Return in how many episodes a column is above 0, of how many known ones, and Wilson's 95 % interval of the share.

    `among` [N] narrows the episodes.
    """
    values = column(table, name)
    known = np.isfinite(values) if among is None else np.isfinite(values) & among
    n, found = int(known.sum()), int((values[known] > 0).sum())
    return found, n, *fraction_interval(found, n)


def percent(frac: float) -> str:
    """Return a fraction in percent, without decimals unless it is small."""
    return f"{100 * frac:.0f} %" if frac >= 0.0995 else f"{100 * frac:.1f} %"
