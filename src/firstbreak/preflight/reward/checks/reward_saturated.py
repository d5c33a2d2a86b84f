"""The check `reward-saturated`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..measures import constant, fraction_interval
from ..sample import RewardSample

ALMOST_ALL = 0.95
"""The share that the lower bound of the interval must reach; the mirror of the 5 % that count as sparse."""
LEAST_ENDS = 3
"""Episodes of each end."""


@check(
    "PRW003",
    "reward-saturated",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Make the task harder or score finer: take the score apart into dimensions.",
)
def look(sample: RewardSample) -> Answer:
    """Almost all episodes or samples get the same, highest reward: good and bad are not told apart.

    What is measured:
        The share of the most frequent value among the returns of episodes (or among the samples), with Wilson's
        interval, when it is also the highest. Constant step rewards are fine when returns differ, as in CartPole. From
        random play a constant return is only a note, a cost per step still drives the search for an end; it is a
        warning when episodes of both ends, terminated and truncated, are among those that get it.

    Why it hurts:
        Without contrast there is no advantage; in groups all advantages are 0.

    Usual causes:
        A checker that accepts anything; a judge that never gives less than full marks; tasks that are solved already;
        a constant that is returned by mistake.

    What to try:
        Score some samples that are certainly bad. If they also get full marks, repair the scorer.

    When it is harmless:
        At the end of a training that has solved its task.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.2: prompts that are all right or all wrong give no gradient.
    """
    skip = too_few(sample)
    if skip is not None:
        return skip
    values = sample.returns
    top = float(values.max())
    if not sample.rewards.any():
        return None
    hits = values.size if constant(values) else int((values == top).sum())
    low, high = fraction_interval(hits, values.size)
    if low < ALMOST_ALL and hits < values.size:
        return None
    same = hits == values.size
    both = same and sample.played and _both_ends(sample)
    words = f"all {hits} {sample.unit} get" if same else f"{100 * hits / values.size:.1f} % of the {sample.unit} get"
    return Symptom(
        f"{words} the same highest {'return' if sample.stepwise else 'reward'} {top:.4g}: no contrast",
        "reward",
        {"share_frac": hits / values.size, "low_frac": low, "high_frac": high, "value": top, "count": int(values.size),
         "distinct_rewards": int(np.unique(sample.rewards).size)},
        severity=Severity.INFO if sample.played and not both else None,
    )  # fmt: skip


def _both_ends(sample: RewardSample) -> bool:
    """Whether some episodes were terminated and others cut by a limit: then one end is worth as much as the other."""
    if sample.terminated is None or sample.truncated is None:
        return False
    last = [rows.stop - 1 for rows in sample.slices]
    terminated = int(sample.terminated[last].sum())
    cut = int((sample.truncated[last] & ~sample.terminated[last]).sum())
    return min(terminated, cut) >= LEAST_ENDS
