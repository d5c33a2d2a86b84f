"""The rule `version-mixing`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `version-mixing`: engineering defaults, except where a source is named."""

    some: float = 2.0
    """Mean number of policy versions in one trajectory worth a note."""
    many: float = 4.0
    """Number at which no single behaviour policy describes a trajectory. Engineering default."""
    points: int = 5
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

CASES = (
    fires("six versions in one response", lambda: GRPO({"async/partial_span_mean": synth.flat(6.0)})),
    healthy("one version", lambda: GRPO({"async/partial_span_mean": synth.constant(1.0)})),
    near_miss("sometimes two", lambda: GRPO({"async/partial_span_mean": synth.flat(1.3, 0.1)})),
)


@rule(
    "DAT006",
    "version-mixing",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.INFO,
    needs=("async/partial_span_mean",),
    min_points=5,
    params=Params(),
    cases=CASES,
    implies=("behaviour-ess-low",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Trajectories are generated across several policy versions.

    What it means:
        One response was sampled in part by an older and in part by a newer policy.

    Why it matters:
        Importance weights are right only per token, with the version of each token.

    Usual causes:
        Interruptible generation with frequent weight updates; very long responses.

    What to try:
        Store log-probs per token at sampling; update weights less often; bound the longest response.

    When it is harmless:
        With log-probs recorded per token at sampling time, up to a few versions.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 4.1 (interruptible rollout).
    """
    span = view.get("async/partial_span_mean")
    assert span is not None
    over = span.value >= params.some
    if not bool(over[-params.points :].all()):
        return None
    onset = persistent_onset(span.step, over, params.points)
    assert onset is not None
    recent = median(span.value[-params.points :])
    return Detection(
        message=f"A trajectory spans {recent:.3g} policy versions on average",
        onset=view.onset(*onset),
        metric=span.metric,
        evidence={"span_versions": recent},
        severity=Severity.WARNING if recent >= params.many else None,
    )
