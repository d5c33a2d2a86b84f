"""The rule `logprob-mismatch`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median, persistent_onset, rank_correlation
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `logprob-mismatch`: engineering defaults, except where a source is named."""

    warn_nats: float = 0.05
    """Mean gap per token worth a warning. Precision alone gives 0.01 to 0.02 nats in bf16 engines (TRL logs; Yao et
    al. 2025)."""
    high_nats: float = 0.1
    """Gap that is an error when it also rises (verl suggests an alarm at 0.1)."""
    points: int = 5
    """Consecutive newest points."""
    rise_z: float = 4.0
    """z of the slope that counts as rising."""


GRPO = synth.like("GRPO")

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""

CASES = (
    fires("high from the start", lambda: GRPO({"async/logprob_mismatch": synth.flat(0.08, 0.05)})),
    fires("high and rising", lambda: GRPO({"async/logprob_mismatch": synth.ramp(0.02, 0.4)})),
    fires("high KL between sampler and trainer", lambda: GRPO({"async/mismatch_kl": synth.flat(0.2, 0.05)})),
    healthy("precision noise", lambda: GRPO({"async/logprob_mismatch": synth.flat(0.012, 0.1)})),
    near_miss("one bad batch", lambda: GRPO({"async/logprob_mismatch": synth.spikes(0.015, 0.3, at=(0.5,))})),
    fires(
        "there at any lag",
        lambda: GRPO({"async/logprob_mismatch": synth.flat(0.08, 0.05), "async/staleness_mean": synth.walk(5.0, 2.0)}),
    ),
    near_miss(
        "stale samples explain it",
        lambda: GRPO({"async/logprob_mismatch": synth.flat(0.08, 0.05), "async/staleness_mean": synth.flat(5.0)}),
    ),
)


def independent(gap: Points, lag: Points) -> bool:
    """Whether the lag varies by a version or more and the gap does not follow it: then it is not staleness."""
    common = sorted(set(gap.step.tolist()) & set(lag.step.tolist()))
    age = lag.value[np.isin(lag.step, common)]
    if len(common) < 20 or float(np.quantile(age, 0.75) - np.quantile(age, 0.25)) < 1:
        return False
    return abs(rank_correlation(age, np.abs(gap.value[np.isin(gap.step, common)]))) < 0.3


@rule(
    "NUM006",
    "logprob-mismatch",
    link=Link.NUMERICS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("async/logprob_mismatch", "async/mismatch_kl"),),
    params=Params(),
    cases=CASES,
    implies=("behaviour-weight-off-one", "behaviour-ess-low", "grad-norm-explosion", "return-collapse", "ratio-tail"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Trainer and sampler give clearly different probabilities to the same tokens.

    What it means:
        The mean gap of log-probs per token is well above what precision explains.

    Why it matters:
        Even on-policy training is then off-policy; rare tokens get large ratios, and gradient spikes follow.

    Usual causes:
        Different precision or kernels; sampling transforms not scored; mixture-of-experts routing; weights not
        synchronised.

    What to try:
        Score the sampled tokens in the trainer at the same version, temperature 1, top_p 1; compare precisions.

    When it is harmless:
        0.01 to 0.02 nats per token. Ratios of whole sequences multiply it by the length: that is arithmetic.

    References:
        Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training". Qi et al. 2025,
        arXiv 2510.26788.
    """
    gap, kl = view.get("async/logprob_mismatch"), view.get("async/mismatch_kl")
    points = gap if gap is not None and len(gap) else kl
    if points is None or not len(points):
        return None
    whole = len(points.source) < SHORT and view.log.state != "running"
    count = len(points) if whole else params.points
    limit = params.warn_nats if points is gap else params.high_nats
    size = np.abs(points.value)
    over = size > limit
    if len(points) < count or not bool(over[-count:].all()):
        return None
    lag = view.get("async/staleness_mean")
    if lag is not None and len(lag) and median(lag.value[-8:]) >= 2 and not independent(points, lag):
        return Skip("the samples are stale, which widens the gap by itself", ("async/logprob_mismatch at lag 0",))
    onset = persistent_onset(points.step, over, count)
    assert onset is not None
    recent = median(size[-count:])
    rising = len(points) >= 30 and linear_trend(points.step, size).z > params.rise_z
    return Detection(
        message=f"Trainer and sampler differ by {recent:.3g} nats per token (precision alone: 0.01 to 0.02)",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"gap_nats": recent, "limit_nats": limit, "rising": rising},
        severity=Severity.ERROR if recent > params.high_nats and rising else None,
    )
