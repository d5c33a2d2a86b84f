"""The rule `reference-is-policy`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reference-is-policy`. Engineering defaults."""

    zero_nats: float = 1e-6
    """KL per token that is nothing but rounding of two equal policies in 32 bits (about 1e-8)."""
    of_rate: float = 0.005
    """Relative change of the weights, as a share of the learning rate, below which they do not move (see
    `weights-hardly-move`)."""
    rows: int = 12
    """Newest rows with such a KL, all of them trained."""


KL, NORM, RATE = "policy/kl_ref", "optim/grad_norm", "optim/lr"
DELTA = "optim/weight_delta"
GRPO = synth.like("GRPO", config={"kl_coef": 0.05})
CASES = (
    fires("KL is 0 in every row of a run that learns", lambda: GRPO({KL: synth.constant(0.0)})),
    fires(
        "falls to 0 half-way", lambda: GRPO({KL: synth.after(0.5, synth.constant(1e-8), synth.ramp(0.0, 0.1, 0.02))})
    ),
    healthy("grows slowly", lambda: GRPO({})),
    near_miss("small, under a strong anchor", lambda: GRPO({KL: synth.flat(2e-4, 0.2)})),
    near_miss(
        "the weights do not move",
        lambda: GRPO(
            {KL: synth.constant(0.0), RATE: synth.constant(1e-6), "optim/weight_delta": synth.flat(1e-9, 0.1)}
        ),
    ),
    near_miss("nothing is trained", lambda: GRPO({KL: synth.constant(0.0), NORM: synth.constant(0.0)})),
)


@rule(
    "POL037",
    "reference-is-policy",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(KL, NORM),
    when=("reference",),
    min_points=12,
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """The KL to the reference is exactly 0 although the policy is trained: both are one and the same model.

    What it means:
        Two models that began alike part with the first update. A KL that stays 0 compares the policy with itself.

    Why it matters:
        The penalty has no effect; nothing holds the policy, and the curve that should warn of drift stays at 0.

    Usual causes:
        A reference that shares its parameters with the policy; adapters that are not switched off for it; a reference
        synchronised at every update; log-probs computed once and used for both.

    What to try:
        Change one weight of the policy by hand: the KL must leave 0.

    When it is harmless:
        Never where the KL is in the loss; with a coefficient of 0 the metric is of no use, either.

    References:
        None; the rule reads off an identity.
    """
    kl, norm, rate = view.get(KL), view.get(NORM), view.get(RATE)
    assert kl is not None
    assert norm is not None
    tail = np.abs(kl.value[-params.rows :])
    if len(kl) < params.rows or kl.step[-1] < params.rows or tail.max() > params.zero_nats:
        return None
    trained = norm.value[norm.step >= kl.step[-params.rows]]
    if trained.size < params.rows // 2 or float(np.median(trained)) <= 0:
        return None
    if rate is not None and rate.value[rate.step >= kl.step[-params.rows]].max(initial=0.0) <= 0:
        return None
    delta = view.get(DELTA)
    # A policy that hardly moves cannot leave its reference: that is `weights-hardly-move`.
    if delta and rate and float(np.median(delta.value)) < params.of_rate * rate.max:
        return None
    moved = np.flatnonzero(np.abs(kl.value) > params.zero_nats)
    start = int(moved[-1]) + 1 if moved.size else 0
    return Detection(
        message=f"KL to the reference is {tail.max():.1g} nats in {len(kl) - start} rows of training",
        onset=view.onset(float(kl.step[max(start - 1, 0)]), float(kl.step[start])),
        metric=KL,
        evidence={"largest_nats": float(tail.max()), "rows": len(kl) - start},
    )
