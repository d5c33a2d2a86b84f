"""The check `reward-too-sparse`."""

from __future__ import annotations

import math

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..measures import fraction_interval
from ..sample import Array, RewardSample

SILENT = 0.01
"""Upper bound under which it is a warning: fewer than 1 of 100 episodes pays."""
SPARSE = 0.05
"""Upper bound under which it is worth knowing."""


@check(
    "PRW004",
    "reward-too-sparse",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Add intermediate rewards by potential-based shaping, start from easier tasks, or use demonstrations.",
    explained_by=("reward-always-zero",),
)
def look(sample: RewardSample) -> Answer:
    """Hardly any episode or group carries a signal.

    What is measured:
        The share of episodes (groups, samples) whose return differs from the commonest one, with Wilson's interval.
        Episodes count, not steps: one paid step in a thousand is dense enough if every second episode has one.

    Why it hurts:
        Most batches hold no success at all, and their gradient is noise. To see one success with 95 % takes 3/p
        episodes.

    Usual causes:
        A goal that is paid only when fully reached; starts that are too far away; tasks too hard for this policy.

    What to try:
        In this order: potential-based shaping, easier starts or a curriculum, demonstrations, an exploration bonus.

    When it is harmless:
        When so many episodes are cheap and the trainer keeps rare successes (prioritised replay, filtering).

    References:
        Hanley & Lippman-Hand 1983, JAMA 249; Ng, Harada & Russell 1999; Andrychowicz et al. 2017, arXiv 1707.01495.
    """
    skip = too_few(sample)
    if skip is not None:
        return skip
    what, signal = _signal(sample)
    hits, n = int(signal.sum()), int(signal.size)
    low, high = fraction_interval(hits, n)
    if hits == 0 or high >= SPARSE:
        return None
    needed = math.ceil(3 * n / hits)
    return Symptom(
        f"{100 * hits / n:.2g} % of {n} {what} carry a signal: about {needed} are needed to see one (95 %)",
        "reward",
        {"signal_frac": hits / n, "low_frac": low, "high_frac": high, "count": n, "needed": needed},
        severity=Severity.WARNING if high < SILENT else Severity.INFO,
    )


def _signal(sample: RewardSample) -> tuple[str, Array]:
    """What is counted, and whether each differs from silence; silence is the commonest value, if it is the lowest."""
    if sample.groups:
        return "groups", np.array([float(np.ptp(sample.rewards[rows]) > 0) for rows in sample.groups])
    found, counts = np.unique(sample.returns, return_counts=True)
    usual = found[int(np.argmax(counts))]
    silent = sample.returns == usual if usual == found[0] or usual == 0 else np.zeros(sample.returns.size, dtype=bool)
    return sample.unit, (~silent).astype(np.float64)
