"""The rule `second-moment-lost`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "optim/moment_bound_broken_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `second-moment-lost`; engineering defaults where no source is named."""

    limit: float = 1e-3
    """Share of entries at which Adam's first moment is larger than its second allows: 0 by construction, with a slack
    of 4 for rounding."""
    rows: int = 2
    """Rows on end that must show it."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(0.05)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.05, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("next to nothing", lambda: GRPO({METRIC: synth.constant(1e-5)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.05, at=(0.4,), noise=0.0)})),
)


@rule(
    "NUM040",
    "second-moment-lost",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "zero-std-groups",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "advantage-collapse",
        "smooth-decline",
        "policy-jumps",
        "echo-trap",
        "environment-moves-at-once",
        "truncation-growing",
        "kl-overshoot",
        "crashed-on-nonfinite",
        "nonfinite-metric",
        "training-died",
        "grad-norm-explosion",
        "entropy-growing",
        "second-moment-fell",
        "weights-hardly-move",
        "sharpening-only",
        "policy-moves-at-once",
        "reward-moves-at-once",
        "exploration-moves-at-once",
        "all-truncated",
        "length-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Adam's second moment is smaller than its first moment allows.

    What it means:
        Both are sums over the same gradients, so that the first, squared, is bounded by the second (by Cauchy and
        Schwarz, with a factor that only the betas say). At some weights it is not: their second moment was lost.

    Why it matters:
        A step divides by the root of the second moment: there it is as large as epsilon lets it be, a thousand times
        the learning rate and more.

    Usual causes:
        States of the optimiser kept in half precision, where squares below 6e-8 are 0; a state that was loaded
        for other weights, or in part.

    What to try:
        Keep the optimiser's state in float32 or bfloat16; compare `exp_avg` and `exp_avg_sq` of one weight.

    When it is harmless:
        Never known to be.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, algorithm 1 and section 2.1 (the bound of a step).
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"at {value:.2%} of the weights Adam's second moment is less than its first allows",
    )
