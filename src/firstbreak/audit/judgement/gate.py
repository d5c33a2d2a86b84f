"""What every check of samples asks first: are there rewards, prompts with several answers, people's scores?"""

from __future__ import annotations

import numpy as np

from ...finding import Skip
from ..table import Table
from .groups import dense
from .paid import LEAST_GROUPS, column, has_independent

LEAST = 30
"""Samples under which shares and ranks say nothing. Engineering default."""


def needs_rewards(table: Table, least: int = LEAST) -> Skip | None:
    """Return why `table` cannot be asked about rewards, or None."""
    known = int(np.isfinite(column(table, "reward")).sum())
    if not known:
        return Skip("the samples have no rewards", ("reward",))
    if known < least:  # a few samples must not end in "healthy": hardly anything could look
        return Skip(f"only {known} samples with a reward, {least} are needed", ("more samples",), withholds=True)
    return None


def needs_rivals(table: Table) -> Skip | None:
    """Return why `table` cannot be asked what stands out among the answers to one prompt, and is paid, or None.

    With one answer a prompt nothing stands out, which is no sign that nothing is paid.
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    paid = np.bincount(dense(table.group)[np.isfinite(column(table, "reward"))])
    several = int((paid >= 2).sum())
    if several >= LEAST_GROUPS:
        return None
    return Skip(
        f"only {several} prompts have several paid answers, {LEAST_GROUPS} are needed",
        ("more prompts with several answers",),
    )


def needs_people(table: Table) -> Skip | None:
    """Return why nothing but the reward judges these samples, or None."""
    if has_independent(table):
        return None
    # Whether the reward pays for what is wanted is the question; without another judge nothing here is called healthy.
    return Skip("nothing but the reward judges the samples", ("human scores", "success of the task"), withholds=True)


def too_few_judged(table: Table, judged: int, least: int) -> Skip:
    """Return why `judged` samples with reward and an independent score cannot tell how samples are on the whole."""
    chosen = int(np.isfinite(column(table, "human_chosen")).sum())
    if not chosen:
        return Skip(f"only {judged} samples have reward and human score, {least} are needed", ("human scores",))
    return Skip(
        f"{chosen} labels are of samples chosen for what they show; of those drawn at random {judged} are labelled, "
        f"{least} are needed",
        ("more labels: firstbreak audit label --random",),
        withholds=True,
    )


def needs(table: Table, *names: str) -> Skip | None:
    """Return which of the columns `names` is missing, or None."""
    missing = [name for name in names if table.get(name) is None]
    return Skip(f"the samples have no {missing[0]}", (missing[0],)) if missing else None
