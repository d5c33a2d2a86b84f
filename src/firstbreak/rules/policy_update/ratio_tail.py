"""The rule `ratio-tail`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `ratio-tail`; engineering defaults where no source is named."""

    ess: float = 0.3
    """Effective share of the samples below which an update rests on a few of them. A log-ratio of standard deviation
    1.1 gives it; a usual one of 0.15 gives 0.98. Used as an alarm by published language-model trainers."""
    variance: float = 2.3
    """Variance of the ratio that amounts to the same: ESS / N = 1 / (1 + variance)."""
    largest: float = 150.0
    """Largest ratio of a batch, about e^5. A Gaussian log-ratio at a KL of 0.05 nats reaches 5 in a million samples."""
    updates: int = 3
    """Consecutive updates beyond."""


PPO = synth.like("PPO")

CASES = (
    fires("few samples left", lambda: PPO({"policy/ess": synth.clipped(synth.flat(0.1), 0, 1)})),
    fires("huge ratios", lambda: PPO({"policy/ratio_max": synth.geometric(2, 5e6, 0.1)})),
    fires("variance", lambda: PPO({"policy/ratio_var": synth.jump(0.02, 40, at=0.5)})),
    healthy("nearly all samples count", lambda: PPO({"policy/ess": synth.clipped(synth.flat(0.97, 0.01), 0, 1)})),
    near_miss("largest ratio of 20 over long batches", lambda: PPO({"policy/ratio_max": synth.flat(20, 0.2)})),
    near_miss("two thin batches", lambda: PPO({"policy/ess": synth.spikes(0.9, 0.2, at=(0.3, 0.7))})),
)


@rule(
    "POL007",
    "ratio-tail",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    any_of=(("policy/ess", "policy/ratio_var", "policy/ratio_max"),),
    params=Params(),
    cases=CASES,
    implies=("grad-norm-explosion", "policy-loss-spike"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A few samples carry the whole update: the importance ratios have a heavy tail.

    What it means:
        The effective sample size of the ratios is a small share of the batch, or single ratios are in the hundreds.

    Why it matters:
        The gradient is that of a handful of samples, with their noise; unclipped negative ones grow without limit.

    Usual causes:
        Steps too large; stale data; log-probabilities in low precision; samples of another policy.

    What to try:
        Look at the ratios of the first minibatch: a tail there is a log-probability fault, a tail that grows over the
        epochs is the step size.

    When it is harmless:
        Single extreme tokens in the long batches of language models, as long as the effective size stays high: there
        the largest ratio alone is a hint only.

    References:
        Kong 1992 (effective sample size). Owen 2013, "Monte Carlo theory, methods and examples", section 9.3.
    """
    ess = view.get("policy/ess")
    if ess is not None and len(ess) and ess.max <= 1.001:
        over = persistent_onset(ess.step, ess.value < params.ess, params.updates)
        if over is not None:
            return Detection(
                message=f"effective sample size fell to {ess.min:.2g} of the batch",
                onset=view.onset(*over),
                metric=ess.metric,
                evidence={"ess_frac_min": ess.min},
            )
    for metric, limit in (("policy/ratio_var", params.variance), ("policy/ratio_max", params.largest)):
        points = view.get(metric)
        if points is None:
            continue
        over = persistent_onset(points.step, points.value > limit, params.updates)
        if over is not None:
            what = "variance of the importance ratio" if metric.endswith("var") else "largest importance ratio"
            return Detection(
                message=f"{what} reached {points.max:.3g} (limit {limit:g})",
                onset=view.onset(*over),
                metric=metric,
                evidence={"max": points.max, "limit": limit},
                severity=Severity.INFO if metric.endswith("max") and "language" in traits_of(view.algorithm) else None,
            )
    return None
