"""The check `default-value-spike`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..measures import continuous, largest_atom
from ..sample import RewardSample

LEAST = 50
SPIKE = 0.03
"""Share of samples with one exact value in an otherwise continuous score: chance gives none."""
APART = 0.15
"""Distance of the spike from the nearest other score, as a share of the range of the middle 90 % of those."""


@check(
    "PRW015",
    "default-value-spike",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Count failures of the scorer; leave such samples out or score them again, never give them a default.",
)
def look(sample: RewardSample) -> Answer:
    """Many scores are exactly one value, away from all others, as if the scorer had failed and a default was returned.

    What is measured:
        The most frequent exact value of an otherwise continuous score (steps of episodes are left out: there single
        events pay fixed sums), its share, and its distance to the nearest other score.

    Why it hurts:
        A failure of the scorer is read as a bad (or good) answer; the policy learns from timeouts.

    Usual causes:
        An exception or a timeout turned into 0 or -1; an answer that could not be parsed; an empty answer.

    What to try:
        Read five samples with this value and score them again by hand.

    When it is harmless:
        A gate that gives 0 to what breaks a rule, by design.

    References:
        Huang et al. 2024, arXiv 2403.17031 (fixed scores for answers without an end token).
    """
    if sample.stepwise:
        return Skip("the rewards are steps, whose events pay fixed sums")
    skip = too_few(sample, LEAST)
    if skip is not None:
        return skip
    values = sample.rewards
    if not continuous(values):
        return None
    atom = largest_atom(values)
    rest = values[values != atom.value]
    low, high = np.quantile(rest, [0.05, 0.95])
    if atom.count < SPIKE * values.size or atom.gap < APART * (high - low):
        return None
    return Symptom(
        f"{100 * atom.count / values.size:.0f} % of {values.size} scores are exactly {atom.value:.4g}, "
        "far from the rest",
        "reward",
        {"share_frac": atom.count / values.size, "value": atom.value, "gap": atom.gap,
         "rest_low": float(low), "rest_high": float(high)},
    )  # fmt: skip
