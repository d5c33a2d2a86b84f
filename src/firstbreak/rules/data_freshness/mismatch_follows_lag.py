"""The rule `mismatch-follows-lag`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, rank_correlation
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `mismatch-follows-lag`: engineering defaults, except where a source is named."""

    least_nats: float = 0.02
    """Gap per token above what precision explains; 0.01 to 0.02 nats is usual in bf16 engines (Yao et al. 2025)."""
    together: float = 0.6
    """Rank correlation of gap and lag over the rows. Engineering default."""
    lags: float = 1.0
    """Versions that the lag must vary by between its quartiles, else nothing can follow it. Engineering default."""
    share: float = 0.5
    """Share of the gap at the largest lags that must be gone at the smallest: what stays there is not staleness."""
    rows: int = 20
    """Rows with both."""


GRPO = synth.like("GRPO")

GAP, LAG = "async/logprob_mismatch", "async/staleness_mean"


def swinging(base: float, swing: float) -> synth.Shape:
    """The same ups and downs around `base`, `swing` in size."""
    return lambda t, rng: base + swing * np.sin(97 * t)


CASES = (
    fires("the gap follows the lag", lambda: GRPO({LAG: swinging(4.0, 3.0), GAP: swinging(0.06, 0.045)})),
    healthy("small gap", lambda: GRPO({LAG: synth.walk(2.0, 1.0), GAP: synth.flat(0.012, 0.1)})),
    near_miss("the gap is there at any lag", lambda: GRPO({LAG: swinging(4.0, 3.0), GAP: synth.flat(0.08, 0.05)})),
    near_miss("constant lag", lambda: GRPO({LAG: synth.constant(2.0), GAP: synth.ramp(0.02, 0.1)})),
)


@rule(
    "DAT012",
    "mismatch-follows-lag",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    needs=(GAP, LAG),
    min_points=20,
    implies=(
        "logprob-mismatch",
        "behaviour-weight-off-one",
        "behaviour-ess-low",
        "behaviour-cap-saturated",
        "ratio-tail",
    ),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The log-prob gap between trainer and sampler grows with the age of the samples.

    What it means:
        Where samples are fresh the gap is small, where they are old it is large: it is the policy that moved on, not
        the arithmetic and not a failed sync.

    Why it matters:
        Staleness, precision and a failed weight sync look alike in one number; the lag tells them apart.

    Usual causes:
        More lag than the loss can correct; updates so large that a few versions make another policy.

    What to try:
        Lower the allowed lag, or train synchronously for some steps: the gap must fall to its value at lag 0.

    When it is harmless:
        A small gap that the decoupled loss corrects.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 5. Yao et al. 2025 (truncated importance sampling).
    """
    gap, lag = view.get(GAP), view.get(LAG)
    assert gap is not None
    assert lag is not None
    common = sorted(set(gap.step.tolist()) & set(lag.step.tolist()))
    if len(common) < params.rows:
        return Skip("needs rows that hold both the gap and the lag", (GAP, LAG))
    size = np.abs(gap.value[np.isin(gap.step, common)])
    age = lag.value[np.isin(lag.step, common)]
    young, old = float(np.quantile(age, 0.25)), float(np.quantile(age, 0.75))
    if old - young < params.lags:
        return Skip("the lag hardly varies, so nothing can be seen to follow it", (LAG,))
    fresh, stale = median(size[age <= young]), median(size[age >= old])
    link = rank_correlation(age, size)
    if stale < params.least_nats or link < params.together or fresh > (1 - params.share) * stale:
        return None
    return Detection(
        message=f"log-prob gap is {fresh:.3g} nats at lag {young:.3g} and {stale:.3g} at lag {old:.3g}",
        onset=view.onset(common[0], common[len(common) // 2]),
        metric=GAP,
        evidence={"fresh_nats": fresh, "stale_nats": stale, "rank_correlation": link},
    )
