"""The check `reward-rises-alone`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....stats import linear_trend
from ..gate import too_few
from ..sample import Array, RewardSample
from ..stretches import LEAST_BINS, stretches

RISE = 8.0
"""Of the reward over training, in spreads of its own noise. Engineering default: a rise that nobody would overlook."""
SURE = 8.0
"""Standard errors of the reward's trend (autocorrelation counted)."""
STILL, LOOSE = 2.0, 0.5
"""Standard errors that the metric's trend must not exceed; correlation of a stretch with the next, which tells a rise
that has levelled off: a metric that stays where it was has none."""
NEAR_BEST_FRAC = 0.9
"""Of a share of successes: there is nothing left to rise to."""


@check(
    "PRW041",
    "reward-rises-alone",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Find out what the reward was paid for: read the best rewarded episodes beside the metric.",
    explained_by=("reward-leaves-metric",),
)
def look(sample: RewardSample) -> Answer:
    """Over training the reward rises far while the task metric stays where it was.

    What is measured:
        Means of reward and metric in up to 40 stretches of training: the reward's trend over its noise, and the trend
        of the metric, which must be within what chance explains and away from its best possible value.

    Why it hurts:
        What is learnt is not the task: the reward pays for something else that is easier to raise.

    Usual causes:
        A shaping term that can be earned for ever; a bonus for format or length; a metric that is not computed anew.

    What to try:
        Log the parts of the reward; look which of them rises.

    When it is harmless:
        Early in a training whose reward leads to the task step by step; a metric that only a finished skill moves.

    References:
        Gao, Schulman & Hilton 2022, arXiv 2210.10760; Amodei et al. 2016, arXiv 1606.06565.
    """
    if sample.update is None or not sample.judges:
        return Skip("no training step with a task metric beside the reward")
    skip = too_few(sample)
    if skip is not None:
        return skip
    for judge in sample.judges:
        kept = np.isfinite(judge.values) & np.isfinite(sample.update)
        if np.unique(sample.update[kept]).size < LEAST_BINS:
            return Skip(f"fewer than {LEAST_BINS} training steps", ("more training steps",))
        if np.ptp(judge.values[kept]) == 0 or _near_best(judge.values[kept]):
            continue
        step, reward, metric = stretches(sample.update[kept], sample.rewards[kept], judge.values[kept])
        rise, z = _rise(step, reward)
        still = linear_trend(step, metric).z
        if rise >= RISE and z >= SURE and abs(still) <= STILL and _next_to_next(metric) < LOOSE:
            return Symptom(
                f"reward rises by {rise:.0f} of its spreads while {judge.said[:50]} stays where it was",
                "reward",
                {"rise_sd": rise, "z": z, "metric_z": still, "judge": judge.name},
            )
    return None


def _rise(step: Array, reward: Array) -> tuple[float, float]:
    """Rise of `reward` over training in spreads of what a line leaves of it, and the trend's z."""
    line = np.polynomial.Polynomial.fit(step, reward, 1)
    noise = float((reward - line(step)).std())
    return float(line(step[-1]) - line(step[0])) / max(noise, 1e-12), float(linear_trend(step, reward).z)


def _next_to_next(metric: Array) -> float:
    """Correlation of each stretch with the one after it; 1 without spread."""
    if metric.std() == 0:
        return 1.0
    return float(np.corrcoef(metric[:-1], metric[1:])[0, 1])


def _near_best(metric: Array) -> bool:
    """Whether a share in [0, 1] is near 1."""
    return bool(metric.min() >= 0 and metric.max() <= 1 and metric.mean() >= NEAR_BEST_FRAC)
