"""The rule `loss-is-sum`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

WEIGHT = "policy/loss_weight"
SUMS = ("luspo",)
"""Losses of TRL that sum over the tokens of a response by design."""
GRPO = synth.like("GRPO", config={"loss_type": "dapo"})


@dataclass(frozen=True)
class Params:
    """Thresholds of `loss-is-sum`; engineering defaults where no source is named."""

    weight: float = 4.0
    """Sum of |derivatives| over the largest advantage: at most 1 for a mean, times ratios of at most 3 (TRL's cap for
    those between sampler and trainer) and a little for a KL term; of a sum it is the number of responses or tokens."""
    rows: int = 5
    """Rows in a row that must show it."""


CASES = (
    fires("a sum over 64 responses", lambda: GRPO({WEIGHT: synth.flat(20.0, 2.0)})),
    fires("from half-way on", lambda: GRPO({WEIGHT: synth.jump(0.4, 25.0, 0.5, 0.05)})),
    healthy("a mean", lambda: GRPO({WEIGHT: synth.clipped(synth.flat(0.4, 0.1), 0.01, 1)})),
    near_miss("ratios that weigh samples", lambda: GRPO({WEIGHT: synth.flat(1.6, 0.2)})),
    near_miss(
        "a sum by design", lambda: synth.like("GRPO", config={"loss_type": "luspo"})({WEIGHT: synth.flat(90.0, 5.0)})
    ),
)


@rule(
    "POL064",
    "loss-is-sum",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(WEIGHT,),
    min_points=5,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "grad-norm-explosion",
        "loss-explosion",
        "policy-loss-spike",
        "weight-norm-growth",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy loss is a sum over responses or tokens, not a mean.

    What it means:
        Summed over the batch, the derivatives of the loss by log-probabilities exceed what any average of
        advantages can give.

    Why it matters:
        The gradient grows with batch size and length: clipping then decides on every step, terms such as the KL
        penalty weigh next to nothing beside it, and settings do not carry over.

    Usual causes:
        `reduction="sum"`; a mean that was taken twice on one side and divided out on the other; gradient
        accumulation without its divisor.

    What to try:
        Double the batch: loss and gradient norm before clipping must stay as they are.

    When it is harmless:
        A loss that sums by design (LUSPO, length-weighted losses) with a rate chosen for it.

    References:
        Liu et al. 2025, arXiv 2503.20783 (what GRPO's averages do); huggingface/trl issue 6024.
    """
    weight = view.get(WEIGHT)
    assert weight is not None
    if str(view.config("loss_type", "")).lower() in SUMS:
        return None
    over = weight.value >= params.weight
    onset = persistent_onset(weight.step, over, params.rows)
    if onset is None:
        return None
    size = median(weight.value[over & (weight.step >= onset[1])])
    return Detection(
        message=f"the loss pulls with {size:.3g} times the largest advantage; a mean over responses with 1 at most",
        onset=view.onset(*onset),
        metric=WEIGHT,
        evidence={"weight": size},
    )
