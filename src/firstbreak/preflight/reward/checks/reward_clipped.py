"""The check `reward-clipped`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..measures import atom_at, continuous
from ..sample import RewardSample

LEAST = 500
MANY = 0.01
"""Share of the rewards at the bounds from which it is a warning; under a tenth of it nothing is said."""

CEILING = 0.5
"""Of scores of samples: half of them cannot be told apart, and the better half at that. Engineering default."""


@check(
    "PRW016",
    "reward-clipped",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Divide by the spread of the return instead of clipping, or clip where no reward of interest reaches.",
)
def look(sample: RewardSample) -> Answer:
    """Rewards pile up exactly at an upper and a lower bound: they are clipped, and differences beyond are lost.

    What is measured:
        The shares of rewards that equal the largest and the smallest one exactly, when the rest is continuous. The last
        steps of episodes, which may pay fixed sums, do not count. A pile at one end only is not taken for clipping,
        unless it holds a fifth of the rewards: then it is a note; and a warning where half of the scores of a table of
        samples are exactly the highest.

    Why it hurts:
        A landing bonus of 100 and a shaping reward of 1 look the same; a crash costs as much as a wobble.

    Usual causes:
        A wrapper made for games with scores of 1; a clip before the normalisation instead of after it.

    What to try:
        Look at the unclipped rewards: what is beyond the bounds, and does it matter? Then scale instead.

    When it is harmless:
        When what is cut off are outliers without meaning.

    References:
        Mnih et al. 2015 (clipping to -1 and 1 cannot tell rewards of different size); van Hasselt et al. 2016,
        arXiv 1602.07714.
    """
    skip = too_few(sample)
    if skip is not None:
        return skip
    inner = np.ones(sample.rewards.size, dtype=bool)
    inner[[s.stop - 1 for s in sample.slices]] = False
    values = sample.rewards[inner]
    if values.size < LEAST or not continuous(values):
        return None
    low, high = atom_at(values, float(values.min())), atom_at(values, float(values.max()))
    both = min(low.count, high.count) >= max(3, 0.1 * MANY * values.size)
    share = (low.count + high.count) / values.size
    one = max(low.count, high.count) / values.size
    if not (both and share >= MANY) and one < 0.2:
        return None
    ceiling = not sample.stepwise and high.count >= CEILING * values.size
    where = (
        f"{low.value:.3g} and {high.value:.3g}" if both else f"{(low if low.count > high.count else high).value:.3g}"
    )
    return Symptom(
        f"{100 * (share if both else one):.1f} % of {values.size} rewards are exactly at {where}: "
        + ("clipped" if both else "a ceiling" if ceiling else "a plateau"),
        "reward",
        {"at_low_frac": low.count / values.size, "at_high_frac": high.count / values.size,
         "low": low.value, "high": high.value},
        severity=None if (both and share >= MANY) or ceiling else Severity.INFO,
    )  # fmt: skip
