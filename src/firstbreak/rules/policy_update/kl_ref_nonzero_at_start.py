"""The rule `kl-ref-nonzero-at-start`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

KL = "policy/kl_ref"


@dataclass(frozen=True)
class Params:
    """Thresholds of `kl-ref-nonzero-at-start`; engineering defaults where no source is named."""

    first_nats: float = 0.05
    """KL per token at the very first update that is no rounding. Log-probabilities in bfloat16 differ by some 0.01
    nats each, and KL is of the order of their square; a first update of several steps adds some
    hundredths."""
    certain_nats: float = 0.5
    """The same as an error: no precision explains it."""
    late_nats: float = 1.0
    """Used where the first logged row lies some updates into the run and steps have been made."""
    early_updates: float = 10.0
    """Updates after which the first row says nothing about the start any more."""


GRPO = synth.like("GRPO")

CASES = (
    fires("wrong reference", lambda: GRPO({KL: synth.flat(0.9)})),
    fires("padding counted", lambda: GRPO({KL: synth.flat(0.09)})),
    healthy("starts at 0", lambda: GRPO({KL: synth.ramp(0.0, 0.05, 0.01)})),
    near_miss("rounding", lambda: GRPO({KL: synth.ramp(0.001, 0.2, 0.01)})),
    near_miss("first row after five updates", lambda: synth.like("GRPO", step=5.0)({KL: synth.ramp(0.06, 0.3)})),
)


@rule(
    "POL013",
    "kl-ref-nonzero-at-start",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(KL,),
    when=("reference",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("kl-ref-runaway",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Before anything is learned the policy already differs from its reference model.

    What it means:
        The reference is a frozen copy of the start, so KL per token is 0 at the first update, up to rounding.

    Why it matters:
        The penalty pulls towards another model, or is computed on the wrong tokens; either poisons every step.

    Usual causes:
        Reference loaded from another checkpoint; adapter left on for the reference; padding or prompt tokens in the
        mean; dropout on; different precision or chat template on the two sides.

    What to try:
        Score one batch with both models before the first step: per-token log-probabilities must agree.

    When it is harmless:
        When a run continues from a later checkpoint against the old reference, or the reference is another model on
        purpose.

    References:
        Ziegler et al. 2019, arXiv 1909.08593. Huang et al. 2024, arXiv 2403.17031.
    """
    kl = view.get(KL)
    assert kl is not None
    if len(kl) == 0:
        return None
    if any(e.name in ("resume", "restart") for e in view.log.events):
        return Skip("the run was resumed; its first row is not the start")
    begin = float(kl.step[0])
    if view.clock != "updates" or begin > params.early_updates:
        return Skip(f"the first KL is logged at {begin:g} {view.clock}, not at the first update", (KL,))
    size = abs(kl.first)
    limit = params.first_nats if begin <= 1 else params.late_nats
    if size <= limit:
        return None
    return Detection(
        message=f"KL to the reference is {size:.3g} nats per token at update {begin:g}; it must start at 0",
        onset=view.onset(begin),
        metric=kl.metric,
        evidence={"kl_nats_per_token": size, "update": begin, "limit_nats": limit},
        severity=Severity.ERROR if begin <= 1 and size >= params.certain_nats else None,
    )
