"""The check `return-scale-extreme`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..measures import constant
from ..sample import RewardSample

LARGE = 1e3
"""Spread of the discounted return from which a squared value loss is a million times what step sizes are tuned for."""
SMALL = 1e-3
"""Spread under which differences drown in the noise of an untrained value network."""
WIDE = 30.0
NARROW = 0.03
"""Outside of these it is worth knowing: more than about an order of magnitude from 1 on either side."""


@check(
    "PRW008",
    "return-scale-extreme",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Divide the reward by the running standard deviation of the discounted return; never subtract its mean.",
)
def look(sample: RewardSample) -> Answer:
    """The spread of the discounted returns is far from 1.

    What is measured:
        The standard deviation of the discounted returns from the start of each episode, with the agent's discount.
        Their mean and range are in the report.

    Why it hurts:
        The best policy does not change when the reward is multiplied by a positive number, but optimisers, critics,
        clipping of values and entropy bonuses do. A spread of 1000 is a squared loss of a million.

    Usual causes:
        Raw units (newtons, cents, points); a sum over many agents or tokens.

    What to try:
        Divide by the running standard deviation of the discounted return. Do not subtract the mean: that pays for
        living longer or shorter.

    When it is harmless:
        When the trainer normalises rewards, returns or values. Between 0.03 and 30 nothing is said, between 0.001 and
        1000 it is a note.

    References:
        Engstrom et al. 2020, arXiv 2005.12729; Andrychowicz et al. 2021, arXiv 2006.05990; Schulman 2016, The nuts and
        bolts of deep RL research.
    """
    skip = too_few(sample)
    if skip is not None:
        return skip
    if not sample.stepwise:
        return Skip("the rewards are not steps of episodes")
    values = sample.discounted
    spread = float(values.std())
    if constant(values) or NARROW <= spread <= WIDE:
        return None
    extreme = spread > LARGE or spread < SMALL
    return Symptom(
        f"discounted returns of {values.size} episodes have a spread of {spread:.3g}, far from 1",
        "reward",
        {"std": spread, "mean": float(values.mean()), "low": float(values.min()), "high": float(values.max()),
         "gamma": sample.gamma, "divide_by": spread},
        severity=None if extreme else Severity.INFO,
    )  # fmt: skip
