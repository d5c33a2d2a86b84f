"""The rule `policy-loss-spike`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `policy-loss-spike`; engineering defaults where no source is named."""

    factor: float = 20.0
    """Size of a spike over the ninth decile of |loss| in the reference. Engineering default."""
    least: float = 0.1
    """Size under which no value is a spike: the loss counts standard deviations of normalised advantages."""
    reference: int = 20
    """First points that make the reference."""
    spikes: int = 3
    """Spikes that make it more than a bad batch."""


PPO = synth.like("PPO")
LOSS = "policy/loss"

CASES = (
    fires("bursts", lambda: PPO({LOSS: synth.spikes(-0.01, 4.0, at=(0.5, 0.55, 0.7, 0.8))})),
    fires("breaks", lambda: PPO({LOSS: synth.jump(-0.01, 2.0, at=0.6)})),
    healthy("around 0", lambda: PPO({})),
    near_miss("one bad batch", lambda: PPO({LOSS: synth.spikes(-0.01, 4.0, at=(0.5,))})),
    near_miss("grows a little", lambda: PPO({LOSS: synth.ramp(-0.005, -0.03, 0.3)})),
)


@rule(
    "POL021",
    "policy-loss-spike",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(LOSS,),
    when=("on_policy", "policy_gradient"),
    min_points=30,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("grad-norm-explosion", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy loss shows repeated spikes far outside its own usual size.

    What it means:
        With normalised advantages the policy loss is near 0 whatever the policy does; values twenty times its usual
        size come from single samples with huge ratios or advantages.

    Why it matters:
        Each spike is a step in a direction set by a handful of samples.

    Usual causes:
        Ratio tails (low precision, stale data); reward or advantage outliers; a jump of the critic.

    What to try:
        Save the batch of the next spike and list its largest ratios and advantages.

    When it is harmless:
        A single spike after a rare reward.

    References:
        Huang et al. 2022, "The 37 implementation details of PPO". Ye et al. 2020, arXiv 1912.09729 (dual clip).
    """
    loss = view.get(LOSS)
    assert loss is not None
    traits = traits_of(view.algorithm)
    if "control" in traits and "ppo_clip" not in traits:
        # Without a ratio it is the covariance of advantages and log-probs, large wherever something is learned.
        return Skip("not near 0 by construction where the loss has no ratio", ("optim/grad_norm",))
    if "groups" in traits:
        return Skip("0 by construction with group advantages, so its size says nothing", ("optim/grad_norm",))
    size = np.abs(loss.value)
    usual = float(np.quantile(size[: params.reference], 0.9))
    if usual <= 0:
        return Skip("the loss is exactly 0 in the reference, so nothing can be compared", (LOSS,))
    late = np.arange(size.size) >= params.reference
    out = np.flatnonzero(late & (size > max(params.factor * usual, params.least)))
    if out.size < params.spikes:
        return None
    first = int(out[0])
    return Detection(
        message=f"policy loss spikes {out.size} times, up to {size[out].max() / usual:.3g} times its usual size",
        onset=view.onset(loss.step[max(first - 1, 0)], loss.step[first]),
        metric=loss.metric,
        evidence={"spikes": int(out.size), "largest": float(size[out].max()), "usual": usual, "median": median(size)},
    )
