"""The check `reward-only-at-end`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..sample import RewardSample

LEAST_STEPS = 50
"""Mean length under which credit for the end is easily found."""
FADED = 0.05
"""What is left of the last reward at the first step, gamma^length, under which discounting hides it."""


@check(
    "PRW037",
    "reward-only-at-end",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Pay progress by potential-based shaping, or raise gamma towards 1 - 1 / length.",
    explained_by=("reward-always-zero",),
)
def look(sample: RewardSample) -> Answer:
    """Long episodes pay in their last step only.

    What is measured:
        Whether all steps but the last of every episode pay exactly 0, the mean length, and what discounting leaves of
        the last reward at the first step, gamma^length. A warning under 5 %, otherwise a note; also a note in tables.

    Why it hurts:
        Credit has to travel through the whole episode; early actions hardly feel the end.

    Usual causes:
        Rewards that are summed up and paid at the end; scores of whole answers.

    What to try:
        Pay as it happens. If only the end can be judged: potential-based shaping, a larger gamma, a larger lambda.

    When it is harmless:
        Games and answers that are judged as a whole, with gamma = 1.

    References:
        Ng, Harada & Russell 1999; Arjona-Medina et al. 2019, arXiv 1806.07857 (delayed rewards).
    """
    if not sample.stepwise:
        return Skip("the rewards are not steps of episodes")
    skip = too_few(sample)
    if skip is not None:
        return skip
    last = np.array([s.stop - 1 for s in sample.whole])
    length = float(np.mean([s.stop - s.start for s in sample.whole]))
    if length < LEAST_STEPS or np.delete(sample.rewards, [s.stop - 1 for s in sample.slices]).any():
        return None
    paid = int(np.count_nonzero(sample.rewards[last]))
    if not paid:
        return None
    left = sample.gamma**length
    return Symptom(
        f"the reward is paid at the end only: {paid} of {last.size} episodes of {length:.0f} steps, "
        f"{100 * left:.2g} % is left at the start",
        "reward",
        {"mean_length_steps": length, "left_frac": left, "episodes": int(last.size), "paid_frac": paid / last.size},
        severity=None if left < FADED and sample.played else Severity.INFO,
    )
