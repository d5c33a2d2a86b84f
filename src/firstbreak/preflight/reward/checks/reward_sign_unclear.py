"""The check `reward-sign-unclear`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..measures import two_humps
from ..sample import RewardSample


@check(
    "PRW012",
    "reward-sign-unclear",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    fix="Read ten samples of each hump, or give a reference score that says which is the good one.",
)
def look(sample: RewardSample) -> Answer:
    """Rewards form two humps on either side of 0, and nothing tells which is the good one.

    What is measured:
        Whether a quarter or more of the returns (or samples) lie on each side of 0, tight around opposite values, with
        a mean near 0, and no reference or metric is given.

    Why it hurts:
        A sign that is confused here looks the same as a right one: the histogram is a mirror image of itself.

    Usual causes:
        Wins and losses, which is fine; or labels of which nobody has looked at a sample.

    What to try:
        Read samples of each hump; add a column with a label or a success flag, then the sign can be checked.

    When it is harmless:
        In games that are won or lost with equal chance.

    References:
        Engineering default: both sides 25 %, spread of a hump under a third of its distance from 0.
    """
    skip = too_few(sample)
    if skip is not None:
        return skip
    humps = None if sample.judges else two_humps(sample.returns)
    if humps is None:
        return None
    return Symptom(
        f"two humps at {humps[0]:.3g} and {humps[1]:.3g}, {sample.returns.size} {sample.unit}: "
        "which is good is unclear",
        "reward",
        {"low_hump": humps[0], "high_hump": humps[1], "mean": float(sample.returns.mean())},
    )
