"""The check `reward-long-tail`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..measures import largest_atom, tail_weight, top_share
from ..sample import RewardSample

LEAST = 200
"""Returns under which 1 % is one or two of them."""
SPARSE = 0.8
"""Share of one value from which the rest is an event, not a tail."""
HEAVY = 0.3
"""Share of the largest 1 %: 0.03 for a Gaussian, 0.08 for an exponential, 0.15 for a Student t with 2 degrees of
freedom, whose variance is infinite. Twice that is no accident."""


@check(
    "PRW006",
    "reward-long-tail",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Look at the largest samples one by one; then bound or compress the reward (clip, log, rank).",
)
def look(sample: RewardSample) -> Answer:
    """A few samples carry most of the reward and will dominate the gradient.

    What is measured:
        The share of the summed distance from the median that the largest 1 % of returns (or samples) carry, and the
        Crow-Siddiqui kurtosis. Neither changes when the reward is shifted or scaled. Rare events that all pay the same
        are sparse, not long-tailed, and do not count.

    Why it hurts:
        After advantages are normalised, the largest sample may reach (n - 1) / sqrt(n) standard deviations, and all
        others shrink towards 0: the update follows a handful of samples.

    Usual causes:
        A quantity that is squared, exponentiated or divided by something small; a unit that is wrong in one branch; a
        judge without an upper limit.

    What to try:
        Inspect the samples. If they are right: clip, take the logarithm, or use ranks within groups.

    When it is harmless:
        When rare large wins are the task and the trainer compresses them (symlog, rank-based advantages).

    References:
        Crow & Siddiqui 1967; Andrychowicz et al. 2021, arXiv 2006.05990 (reward normalisation and clipping).
    """
    skip = too_few(sample, LEAST)
    if skip is not None:
        return skip
    values = sample.returns
    if largest_atom(values).count > SPARSE * values.size:
        return None
    share = top_share(values)
    gap = np.abs(values - np.median(values))
    largest = values[np.argsort(gap)[-max(2, int(np.ceil(0.01 * values.size))) :]]
    if share < HEAVY or np.unique(largest).size <= largest.size // 4:
        return None
    return Symptom(
        f"long tail: the largest 1 % of {values.size} {sample.unit} carry {100 * share:.0f} % of all deviation",
        "reward",
        {"top_1_percent_share_frac": share, "tail_weight": tail_weight(values), "largest": float(largest[-1]),
         "median": float(np.median(values)), "count": int(values.size)},
    )  # fmt: skip
