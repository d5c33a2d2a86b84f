"""The rule `kl-ref-negative`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `kl-ref-negative`; a KL divergence is not negative by definition, its k1 estimate has noise."""

    least_nats: float = 2e-3
    """Mean below zero that is no rounding of log-probs (bf16: some 0.001 nats after averaging). Engineering default."""
    rows: int = 20
    """Newest rows looked at. Engineering default."""
    share: float = 0.9
    """Share of those rows below 0: with a mean of 0 or more, 18 of 20 happen once in 5,000."""


GRPO = synth.like("GRPO")
FILTERED = synth.like("GRPO", config={"mask_truncated_completions": True})

KL = "policy/kl_ref"

CASES = (
    fires("negative row after row", lambda: GRPO({KL: synth.ramp(0.0, -0.1, 0.02)})),
    healthy("grows from 0", lambda: GRPO({})),
    near_miss("k1 scatters around 0", lambda: GRPO({KL: synth.walk(0.0, 0.004, rho=0.2)})),
    near_miss("negative at first", lambda: GRPO({KL: synth.ramp(-0.01, 0.1, 0.02)})),
    near_miss("only of responses that ended", lambda: FILTERED({KL: synth.ramp(0.0, -0.1, 0.02)})),
)


@rule(
    "POL028",
    "kl-ref-negative",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    needs=(KL,),
    when=("reference",),
    min_points=20,
    implies=("kl-ref-runaway",),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The KL to the reference is negative row after row.

    What it means:
        The mean of log pi - log pi_ref over the policy's own samples estimates a KL and cannot stay below 0. It does,
        so the samples are not the policy's own, or the two log-probs are not of the same tokens.

    Why it matters:
        A negative penalty is a bonus for leaving the reference: the run is paid for drifting.

    Usual causes:
        Sampling with top-p, top-k or another temperature; stale samples; padding in the mean; models swapped.

    What to try:
        Sample at temperature 1 without truncation; score one batch with both models; use k3, which cannot be negative.

    When it is harmless:
        In single minibatches: the k1 estimate scatters on both sides of 0. Over the responses that ended alone
        (`mask_truncated_completions`) it may be below 0 for good, and nothing is said.

    References:
        Schulman 2020, "Approximating KL divergence". huggingface/trl issues 351 and 1005.
    """
    if str(view.config("mask_truncated_completions", "")).lower() in ("true", "1"):
        return Skip("responses that were cut off are left out, so that the rest are no sample of the policy")
    kl = view.get(KL)
    assert kl is not None
    tail = kl.value[-params.rows :]
    below = tail < 0
    if below.mean() < params.share or float(tail.mean()) > -params.least_nats:
        return None
    onset = persistent_onset(kl.step, kl.value < 0, max(3, params.rows // 4))
    return Detection(
        message=f"KL to the reference averages {tail.mean():.3g} nats per token over {tail.size} rows; it is never < 0",
        onset=view.onset(*onset) if onset is not None else view.onset(float(kl.step[-params.rows])),
        metric=KL,
        evidence={"mean_nats": float(tail.mean()), "rows": int(tail.size), "below_frac": float(below.mean())},
    )
