"""The rule `draws-too-alike`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

Z, EXCESS = "sample/repeats_z", "sample/repeats_excess_frac"
UNLIKE, ENDS = "sample/unlike_policy_z", "sample/end_unlike_policy_z"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `draws-too-alike`; engineering defaults where no source is named."""

    z: float = 5.0
    """Standard deviations by which pairs of one group are alike more often than independent draws of this policy: by
    definition 0 in the mean."""
    excess: float = 0.08
    """The same as a share of the pairs."""
    unlike: float = 4.0
    """Standard deviations past which the draws are not this policy's at all (`draws-unlike-policy`)."""
    rows: int = 12
    """Rows in a row that must show it: draws of another policy are alike in a way of their own, and it takes some looks
    until those are told for certain."""


CASES = (
    fires("two seeds a group", lambda: GRPO({Z: synth.flat(15.0, 1.0), EXCESS: synth.flat(0.35, 0.02)})),
    fires(
        "half-way",
        lambda: GRPO({Z: synth.jump(0.0, 12.0, at=0.5, noise=0.3), EXCESS: synth.jump(0.0, 0.3, at=0.5, noise=0.01)}),
    ),
    healthy("independent draws", lambda: GRPO({Z: synth.flat(0.0, 1.0), EXCESS: synth.flat(0.0, 0.02)})),
    near_miss("a trifle, for certain", lambda: GRPO({Z: synth.flat(8.0, 0.5), EXCESS: synth.flat(0.01, 0.001)})),
    near_miss(
        "draws of another policy",
        lambda: GRPO({Z: synth.flat(9.0, 0.5), EXCESS: synth.flat(0.4, 0.01), UNLIKE: synth.flat(-12.0, 1.0)}),
    ),
    near_miss(
        "the same, of which it takes some looks to be certain",
        lambda: GRPO(
            {
                Z: synth.jump(0.0, 9.0, at=0.5, noise=0.5),
                EXCESS: synth.jump(0.0, 0.4, at=0.5, noise=0.01),
                ENDS: synth.jump(0.0, -9.0, at=0.55, noise=0.5),
            }
        ),
    ),
)


@rule(
    "EXP039",
    "draws-too-alike",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=(Z, EXCESS),
    min_points=12,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "zero-std-groups",
        "response-collapse",
        "advantage-collapse",
        "return-collapse",
        "reward-std-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "reward-flat",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses of a group are alike far more often than independent draws of this policy would be.

    What it means:
        How often two draws agree follows from the policy's own probabilities. Groups hold the same response more often
        than that.

    Why it matters:
        A group of eight with two different responses has the signal of two and the cost of eight.

    Usual causes:
        Requests that share a seed; a cache of responses by prompt; one response that is copied to fill a group.

    What to try:
        Print the responses of one group with their seeds; leave the seed away, or add the place in the group.

    When it is harmless:
        Beam search, or a tree of which branches share their beginning.

    References:
        Shao et al. 2024, arXiv 2402.03300, section 4.1.1 (a group is sampled from the old policy).
    """
    z, excess = view.get(Z), view.get(EXCESS)
    assert z is not None
    assert excess is not None
    share = np.interp(z.step, excess.step, excess.value)
    alike = (z.value >= params.z) & (share >= params.excess)
    onset = persistent_onset(z.step, alike, params.rows)
    if onset is None:
        return None
    for other in (view.get(UNLIKE), view.get(ENDS)):
        if other is not None and bool((np.abs(other.value[other.step >= onset[0]]) >= params.unlike).any()):
            return None
    value = median(share[alike & (z.step >= onset[1])])
    return Detection(
        message=f"pairs of a group are the same response {value:.0%} more often than the policy's own draws would be",
        onset=view.onset(*onset),
        metric=EXCESS,
        evidence={"excess_frac": value, "z": median(z.value[alike])},
    )
