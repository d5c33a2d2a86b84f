"""The rule `mmd-below-noise-floor`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `mmd-below-noise-floor`; engineering defaults where no source is named."""

    samples: int = 16
    """Actions sampled from each policy and state for the estimate, where `mmd_samples` is not configured (reference
    implementation's default)."""
    bandwidth: float = 1.0
    """Bandwidth s of the kernel exp(-d^2 / 2 s^2), in action units, where `mmd_bandwidth` is not configured."""
    quantile: float = 1.645
    """Normal quantile of the null distribution that counts as floor (95 %)."""
    updates: int = 10
    """Consecutive updates at or under it."""


SETTINGS = {"action_dim": 5, "batch_size": 1024}
MM = synth.like("MM-RKHS", config=SETTINGS)
STD = {"policy/action_std": synth.flat(0.5)}

CASES = (
    fires("at the level of identical policies", lambda: MM({**STD, "policy/mmd": synth.flat(0.0012, 0.05)})),
    healthy("ten times the floor", lambda: MM({**STD, "policy/mmd": synth.flat(0.02)})),
    near_miss("just above", lambda: MM({**STD, "policy/mmd": synth.flat(0.003, 0.05)})),
)


def null_spread(dims: float, sigma: float, bandwidth: float, samples: float, states: float) -> float:
    """Standard deviation of the unbiased MMD^2 estimate between two equal Gaussian policies, averaged over states.

    Policies N(mu, sigma^2 I) in `dims` dimensions, `samples` actions of each per state, Gaussian kernel. The variance
    of the U-statistic is 8 E[k~^2] / (n (n - 1)) with the centred kernel k~ (Gretton et al. 2012, section 2.2).
    """
    a = (sigma / bandwidth) ** 2
    half = dims / 2
    square = (1 + 4 * a) ** -half
    through_mean = ((1 + a) * (1 + 3 * a)) ** -half
    mean = (1 + 2 * a) ** -half
    centred = max(square - 2 * through_mean + mean**2, 0.0)
    return math.sqrt(8 * centred / (samples * (samples - 1)) / states)


@rule(
    "POL017",
    "mmd-below-noise-floor",
    link=Link.POLICY_UPDATE,
    component=Component.LOGGING,
    severity=Severity.INFO,
    needs=("policy/mmd",),
    needs_config=("action_dim", "batch_size"),
    when=("mmd",),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=("mmd-inert",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The logged MMD is no larger than its estimate between two identical policies.

    What it means:
        An estimate from a handful of actions per state scatters around 0 when nothing has changed; the values logged
        are of that size.

    Why it matters:
        The number proves neither that the term works nor that the policy moved; its gradient is mostly noise, and
        none at all where negative estimates are clamped to 0.

    Usual causes:
        Too few sampled actions; a kernel too wide or too narrow; a policy that really does not move.

    What to try:
        Estimate MMD between two sample sets of the same policy; use the closed form for Gaussians; do not clamp.

    When it is harmless:
        When steps are meant to be that small and another quantity (KL) shows that the policy moves.

    References:
        Gretton et al. 2012, JMLR 13, section 2.2. Gupta and Mahajan 2026, arXiv 2603.17875.
    """
    mmd, std = view.get("policy/mmd"), view.get("policy/action_std")
    assert mmd is not None
    dims, states = view.number("action_dim"), view.number("batch_size")
    if std is None or len(std) == 0 or std.last <= 0 or not dims or not states:
        return Skip("the noise floor needs the policy's standard deviation", ("policy/action_std",))
    samples = view.number("mmd_samples") or float(params.samples)
    bandwidth = view.number("mmd_bandwidth") or params.bandwidth
    if samples < 2:
        return None
    floor = params.quantile * null_spread(dims, median(std.value), bandwidth, samples, states)
    over = persistent_onset(mmd.step, mmd.value <= floor, params.updates)
    if over is None:
        return None
    now = median(mmd.value[mmd.step >= over[1]])
    return Detection(
        message=f"MMD^2 is {now:.2g}; two identical policies give up to {floor:.2g}",
        onset=view.onset(*over),
        metric=mmd.metric,
        evidence={"mmd": now, "floor": floor, "samples": samples},
    )
