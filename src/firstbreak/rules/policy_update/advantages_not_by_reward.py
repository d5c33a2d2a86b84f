"""The rule `advantages-not-by-reward`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

RESIDUAL, SIZE = "advantage/residual_frac", "advantage/size_ratio"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantages-not-by-reward`; engineering defaults where no source is named."""

    frac: float = 0.1
    """Share of the advantages, as a vector, that is not along those which the settings make of the rewards: 0 by
    definition (rounding: 1e-6)."""
    size: float = 1.25
    """Length of the advantages over that of the expected ones, or the inverse: 1 by definition."""
    rows: int = 4
    """Batches on end that must show it."""


CASES = (
    fires("another baseline", lambda: GRPO({RESIDUAL: synth.clipped(synth.flat(0.5, 0.05), 0, 1)})),
    fires("ten times as large, half-way", lambda: GRPO({SIZE: synth.jump(1.0, 10.0, at=0.5, noise=0.0)})),
    healthy("as set", lambda: GRPO({RESIDUAL: synth.constant(1e-6), SIZE: synth.constant(1.0)})),
    near_miss("one batch", lambda: GRPO({RESIDUAL: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
    near_miss("rounding", lambda: GRPO({RESIDUAL: synth.constant(0.01), SIZE: synth.constant(1.01)})),
)


@rule(
    "POL075",
    "advantages-not-by-reward",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    any_of=((RESIDUAL, SIZE),),
    min_points=4,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "zero-std-groups",
        "advantage-outliers",
        "advantage-mean-biased",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Advantages are not those that the settings make of the rewards.

    What it means:
        A group's advantages are its rewards less their mean, divided as the settings say. Computed again from the
        rewards they come out otherwise.

    Why it matters:
        What the policy is pulled towards is no longer the reward: single responses count too much, too little, or
        for another.

    Usual causes:
        A baseline or spread of another group or of the whole batch; a clamp; a bonus added late; advantages of
        another batch.

    What to try:
        Print rewards and advantages of one group where the loss reads them, and compute them by hand.

    When it is harmless:
        Where a derived class shapes advantages on purpose.

    References:
        Shao et al. 2024, arXiv 2402.03300, section 4.1.2; Liu et al. 2025, arXiv 2503.20783.
    """
    for metric, limit in ((RESIDUAL, params.frac), (SIZE, params.size)):
        points = view.get(metric)
        if points is None:
            continue
        off = points.value > limit
        if metric == SIZE:
            off |= points.value < 1 / limit
        onset = persistent_onset(points.step, off, params.rows)
        if onset is None:
            continue
        value = median(points.value[off & (points.step >= onset[1])])
        words = f"{value:.0%} of the advantages does not follow from rewards and settings; it should be 0"
        if metric == SIZE:
            words = f"advantages are {value:.3g} times as large as rewards and settings make them; it should be 1"
        return Detection(
            message=words, onset=view.onset(*onset), metric=metric, evidence={"off": value, "limit": limit}
        )
    return None
