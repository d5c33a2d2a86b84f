"""The rule `behaviour-ess-low`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `behaviour-ess-low`: engineering defaults, except where a source is named."""

    low: float = 0.5
    """Effective share of the samples under which half the batch is wasted."""
    lost: float = 0.3
    """Share under which an update is driven by few samples (verl, rollout correction guide)."""
    points: int = 5
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

CASES = (
    fires("a fifth effective", lambda: GRPO({"async/behave_ratio_ess": synth.jump(0.9, 0.2, at=0.5)})),
    healthy(
        "nearly all effective", lambda: GRPO({"async/behave_ratio_ess": synth.clipped(synth.flat(0.95, 0.02), 0, 1)})
    ),
    near_miss("one bad batch", lambda: GRPO({"async/behave_ratio_ess": synth.spikes(0.9, 0.1, at=(0.5,))})),
)


@rule(
    "DAT004",
    "behaviour-ess-low",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("async/behave_ratio_ess",),
    min_points=5,
    params=Params(),
    cases=CASES,
    implies=("grad-norm-explosion", "ratio-tail"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Few samples carry the batch: the effective sample size of the behaviour weights is low.

    What it means:
        The effective share 1 / mean((w / mean w)^2) stays below a half.

    Why it matters:
        Gradient variance grows by the inverse; below 0.3 instability usually follows.

    Usual causes:
        Lag; gap between trainer and sampler; sequence weights of long responses.

    What to try:
        Lower the lag; weigh per token; scale the learning rate with the effective share.

    When it is harmless:
        Sequence weights are noisier than token weights by nature; compare like with like.

    References:
        Kong 1992 (effective sample size). Huang et al. 2026 (VCPO): its fall predicts instability.
    """
    share = view.get("async/behave_ratio_ess")
    assert share is not None
    if share.max > 1.001:
        return Skip("the effective sample size is a count, not a share", ("async/behave_ratio_ess as a fraction",))
    low = share.value < params.low
    if not bool(low[-params.points :].all()):
        return None
    onset = persistent_onset(share.step, low, params.points)
    assert onset is not None
    recent = median(share.value[-params.points :])
    lost = bool((share.value[-params.points :] < params.lost).all())
    return Detection(
        message=f"Effective share of the samples is {recent:.2f} (limit {params.low:g}, lost below {params.lost:g})",
        onset=view.onset(*onset),
        metric=share.metric,
        evidence={"ess_frac": recent, "limit_frac": params.low},
        severity=Severity.ERROR if lost else None,
    )
