"""The check `one-episode-carries-the-mean`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..gate import FEWEST, too_few
from ..record import Record

MOST = 0.5
"""Share of one episode. Engineering default: the largest of 20 exponential returns has about a fifth."""
FEWEST_VALUES = 5
"""Unlike returns; with fewer it is a sparse prize, of which one may be the only one. Engineering default."""


@check(
    "TRJ008",
    "one-episode-carries-the-mean",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Look at that episode first; report the median beside the mean.",
)
def look(record: Record) -> Answer:
    """One episode alone makes up most of what the returns differ by.

    What is measured:
        The share of one episode in the summed distances of all returns from their median: above one half, among 20 or
        more returns of at least five values.

    Why it hurts:
        The mean and every normaliser follow that one; a gradient step towards it forgets the others.

    Usual causes:
        A simulator that blew up and paid for it; a reward that multiplies; a unit mistaken once.

    What to try:
        Print the rewards of that episode step by step.

    When it is harmless:
        A rare prize that is meant, where the rest of the reward is small beside it.
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    finite = np.isfinite(record.summary.returns)
    returns = record.summary.returns[finite]
    if returns.size < FEWEST:
        return Skip("too few returns are finite", ("finite rewards",), True)
    if np.unique(returns).size < FEWEST_VALUES:
        return None
    middle = float(np.median(returns))
    gaps = np.abs(returns - middle)
    share = float(gaps.max() / gaps.sum())
    if share <= MOST:
        return None
    place = int(np.flatnonzero(finite)[gaps.argmax()])
    odd = float(record.summary.returns[place])
    return Symptom(
        f"episode {place:,} returns {odd:.4g}, the median is {middle:.4g}; the mean is its doing",
        "return",
        {"episode": place, "return": odd, "median": middle, "mean": float(returns.mean()), "share_frac": share},
    )
