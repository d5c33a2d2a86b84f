"""The check `top-rewards-judged-badly`."""

from __future__ import annotations

import math

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..judges import Judge
from ..judging import superiority
from ..sample import Array, RewardSample

TOP = 0.05
"""Share of the samples called the best rewarded."""
LEAST = 20
"""Samples at the top that are needed."""
BAD = 0.35
"""Chance that a top sample is judged better than another one: 0.5 is no relation."""
ERRORS = 3.0
"""Standard errors below 0.5, besides."""


@check(
    "PRW011",
    "top-rewards-judged-badly",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Look at the best rewarded samples: they show what training will make more of.",
    explained_by=("reward-opposes-reference",),
)
def look(sample: RewardSample) -> Answer:
    """The best rewarded samples are judged worse than the others: the reward peaks off the target.

    What is measured:
        The chance that one of the 5 % best rewarded rows is judged better than one of the others (ties count half).
        For steps both the metric and its change in the step must say so, since a reward for progress is high where much
        is left to do.

    Why it hurts:
        Over all samples a reward may look right, but the policy goes where it is highest. A proxy is wrong first at
        its extremes.

    Usual causes:
        A square or a one-sided difference where the distance was meant, so that beyond the target pays more; a bonus
        without an upper limit; a judge that can be talked into full marks.

    What to try:
        Plot the reward against the metric; use the absolute distance, put a limit to each bonus.

    When it is harmless:
        When the metric is no more than a side condition.

    References:
        Gao, Schulman & Hilton 2022, arXiv 2210.10760; Manheim & Garrabrant 2018, arXiv 1803.04585 (extremal Goodhart).
    """
    if not sample.judges:
        return Skip("no reference score or task metric", ("reference score", "task metric"))
    skip = too_few(sample)
    if skip is not None:
        return skip
    edge = np.quantile(sample.rewards, 1 - TOP)
    top = sample.rewards >= edge
    if top.sum() < LEAST or top.mean() > 4 * TOP:
        return Skip("no group of samples stands out as the best rewarded")
    limit = min(BAD, 0.5 - ERRORS / math.sqrt(12 * top.sum()))
    for judge in sample.judges:
        chances = [superiority(view[top], view[~top]) for view in _views(sample, judge)]
        if not np.isfinite(chances).all() or chances[0] > limit or max(chances) > 0.5:
            continue
        return Symptom(
            f"the {100 * top.mean():.0f} % best rewarded are judged worse by {judge.said}: "
            f"better than others in {100 * chances[0]:.0f} % of pairs",
            "reward",
            {"chance_better_frac": chances[0], "top": int(top.sum()), "judge": judge.name, "edge": float(edge)},
        )
    return None


def _views(sample: RewardSample, judge: Judge) -> list[Array]:
    """The metric, and for steps also its change since the step before."""
    if not sample.stepwise:
        return [judge.values]
    change = np.diff(judge.values, prepend=np.nan)
    change[[s.start for s in sample.slices]] = np.nan
    return [judge.values, change]
