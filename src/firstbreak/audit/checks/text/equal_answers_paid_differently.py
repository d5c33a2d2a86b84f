"""The check `equal-answers-paid-differently`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...judgement.gate import needs_rewards
from ...judgement.paid import column
from ...table import Table

LEAST_SETS = 10
SMALL = 0.1
FEW = 0.05
"""Lower bound of the share from which it is noise of the scorer and not a rare hiccup. Engineering default."""


@check(
    "AUD008",
    "equal-answers-paid-differently",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Score one answer ten times: fix the seed, the sampling or the time limit of the scorer.",
)
def look(table: Table) -> Answer:
    """The same answer to the same prompt gets different rewards.

    What is measured:
        Among answers that were given twice or more to one prompt, word for word: the share whose rewards differ by more
        than a tenth of the spread between all rewards.

    Why it hurts:
        The difference is noise, and advantages within a prompt amplify it.

    Usual causes:
        A judge that samples; time-outs; a reward that depends on the order or on the neighbours in the batch.

    What to try:
        Score a fixed set repeatedly; set the judge's temperature to 0 or average.

    When it is harmless:
        When the reward holds a term that is not of the text, such as latency or the state of an environment.

    References:
        Zheng et al. 2023 (MT-Bench), arXiv 2306.05685, section 3.3.
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    if table.response.size != table.n:
        return Skip("the table holds no fingerprints of the answers")
    reward = column(table, "reward")
    good = np.isfinite(reward)
    spread = float(np.std(reward[good]))
    both = np.stack((table.group[good], table.response[good]), axis=1)
    where = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    size = np.bincount(where)
    low, high = np.full(size.size, np.inf), np.full(size.size, -np.inf)
    np.minimum.at(low, where, reward[good])
    np.maximum.at(high, where, reward[good])
    again = size >= 2
    sets = int(again.sum())
    if sets < LEAST_SETS:
        return Skip(f"only {sets} answers occur twice at one prompt, {LEAST_SETS} are needed")
    apart = again & (high - low > SMALL * spread)
    bound = fraction_interval(int(apart.sum()), sets)
    if bound[0] <= FEW:
        return None
    return Symptom(
        f"{int(apart.sum())} of {sets} answers given twice at one prompt were paid differently",
        "reward",
        {
            "apart": int(apart.sum()),
            "repeated_answers": sets,
            "apart_frac": float(apart.sum()) / sets,
            "low_frac": bound[0],
            "high_frac": bound[1],
        },
    )
