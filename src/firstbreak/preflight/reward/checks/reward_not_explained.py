"""The check `reward-not-explained`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..learnable import HORIZONS, explained
from ..measures import largest_atom
from ..sample import RewardSample

NOTHING = 0.01
"""Upper bound of R2 under which it takes over 1600 steps to tell two actions apart that differ by one standard
deviation of the signal: n = 16 / R2 (two-sample test, power 0.8)."""
NOTHING_AHEAD = HORIZONS[1] * NOTHING
"""The same for the sum over the next steps: noise that is drawn anew in each step averages out, so that up to so many
times as much of the sum may be explained although a step is paid by chance."""
RARE = 0.95
"""Share of one value from which the reward is an event, for which R2 in random play says nothing."""


@check(
    "PRW031",
    "reward-not-explained",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Remove the noise, or show the agent what the reward depends on.",
    explained_by=("reward-ignores-agent", "reward-noise"),
)
def look(sample: RewardSample) -> Answer:
    """Nothing that the agent sees or does explains the reward: noise swamps it, or it depends on something hidden.

    What is measured:
        R2 on held-out episodes of the reward, and of the discounted reward of the next 10 steps, on observation,
        action and next observation, with generic features (squares, products, random waves). It fires when the upper
        bounds for the reward are below 0.01 and that for the next 10 steps, over which noise averages out, is below
        0.1. A mean far from 0 changes nothing, and a reward without any linear correlation, such as minus x squared,
        is seen.

    Why it hurts:
        The critic cannot learn what the policy is to improve; advantages are noise.

    Usual causes:
        Noise added to the reward; a reward from a state that is not observed; one drawn anew per step or episode.

    What to try:
        Log the reward without the noise term; add the hidden quantity to the observation.

    When it is harmless:
        When the observation is an image (then this check does not look), or memory is needed and the policy has one.

    References:
        Rahimi & Recht 2007 (random features); sample size n = 16 (sigma / delta)^2, Lehr 1992.
    """
    skip = too_few(sample, 1)
    if skip is not None:
        return skip
    if largest_atom(sample.rewards).count > RARE * sample.rewards.size:
        return Skip("the reward nearly always has the same value")
    fits = explained(sample)
    if fits is None:
        return Skip("no observations and actions beside the rewards, or too few", ("observations and actions",))
    if max(fits.now.high, fits.now_blind.high) >= NOTHING or fits.ahead.high >= NOTHING_AHEAD:
        return None
    return Symptom(
        f"observation and action explain {100 * max(fits.now.r2, 0.0):.1f} % of the reward's "
        f"variance in held-out episodes",
        "reward",
        {"r2": fits.now.r2, "r2_high": fits.now.high, "r2_next_10_steps": fits.ahead.r2,
         "r2_next_10_steps_high": fits.ahead.high, "steps": int(sample.rewards.size)},
    )  # fmt: skip
