"""The check `reward-fixed-per-episode`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..measures import between_share, constant
from ..sample import RewardSample

LEAST_STEPS = 5


@check(
    "PRW032",
    "reward-fixed-per-episode",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Pay for what happens in the step; remove what is drawn once per episode.",
)
def look(sample: RewardSample) -> Answer:
    """Each episode pays one number in all of its steps: returns differ by the luck of the episode.

    What is measured:
        The intraclass share: how much of the variance of step rewards lies between episodes. It fires when each episode
        of 5 or more steps is constant but episodes differ. |mean| / spread plays no part: adding 5 to all rewards
        improves that ratio and teaches nothing. In a table it is a note, since outcomes are often copied to all steps.

    Why it hurts:
        All the variance is between episodes, none between actions: the advantage holds no information.

    Usual causes:
        A random scale or target drawn at reset that is not observed; an outcome copied to each step.

    What to try:
        Compare the variance within an episode with that between episodes.

    When it is harmless:
        Outcome rewards copied to each step, if the learner knows that they are one reward, not many.

    References:
        Fisher 1925 (intraclass correlation).
    """
    if not sample.stepwise:
        return Skip("the rewards are not steps of episodes")
    skip = too_few(sample)
    if skip is not None:
        return skip
    if constant(sample.rewards):
        return None
    long = [s for s in sample.slices if s.stop - s.start >= LEAST_STEPS]
    if len(long) < 20 or not all(constant(sample.rewards[s]) for s in long):
        return None
    means = np.array([sample.rewards[s.start] for s in long])
    if np.unique(means).size < len(long) // 2:
        return None
    return Symptom(
        f"each of {len(long)} episodes pays one number in every step: "
        f"{float(means.min()):.3g} to {float(means.max()):.3g}",
        "reward",
        {"episodes": len(long), "between_share_frac": between_share(sample.rewards, sample.episode),
         "std_between": float(means.std()), "mean": float(means.mean())},
        severity=None if sample.played else Severity.INFO,
    )  # fmt: skip
