"""The check `reward-one-step-late`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..learnable import explained
from ..sample import RewardSample

LEAST_EPISODES = 20
ELSEWHERE = 0.01
"""Share of later steps that may pay the same as every first step does."""
EXPLAINED = 0.5
"""R2 on the transition before that is needed."""
AS_GOOD = 0.01
"""How much better the step's own transition may explain it; in a smooth world neighbours resemble one another."""


@check(
    "PRW033",
    "reward-one-step-late",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Return the reward of this step's transition; the last reward of each episode is lost at present.",
)
def look(sample: RewardSample) -> Answer:
    """Each step returns the reward of the step before.

    What is measured:
        Two signs together: the first step of every episode pays one and the same value, which later steps hardly ever
        pay; and the transition before explains the reward on held-out episodes as well as the step's own.

    Why it hurts:
        The last reward of each episode, often the one that matters, is never paid, and each action is credited with the
        work of the one before.

    Usual causes:
        The reward is computed before the state is advanced; a buffer or wrapper that returns the stored reward.

    What to try:
        Step once with a large action and see in which step its cost appears.

    When it is harmless:
        When the first step rightly pays nothing, as in a sum of differences that starts at the second one.

    References:
        Engineering default; alignment of r(t+1) with (s(t), a(t)) as in Sutton & Barto 2018, section 3.1.
    """
    skip = too_few(sample, 1)
    if skip is not None:
        return skip
    if len(sample.slices) < LEAST_EPISODES:
        return Skip("too few episodes of steps")
    first = np.array([s.start for s in sample.slices])
    value = float(sample.rewards[first[0]])
    later = np.delete(sample.rewards, first)
    if (sample.rewards[first] != value).any() or (later == value).mean() > ELSEWHERE:
        return None
    fits = explained(sample)
    if fits is None:
        return Skip("no observations and actions beside the rewards, or too few", ("observations and actions",))
    if fits.before.r2 < EXPLAINED or fits.now_common.r2 > fits.before.r2 + AS_GOOD:
        return None
    return Symptom(
        f"rewards come one step late: every first step pays {value:.3g}, and the step before explains "
        f"{100 * fits.before.r2:.1f} %",
        "reward",
        {"first_reward": value, "r2_step_before": fits.before.r2, "r2_own_step": fits.now_common.r2,
         "episodes": len(sample.slices)},
    )  # fmt: skip
