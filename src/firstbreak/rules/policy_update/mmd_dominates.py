"""The rule `mmd-dominates`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `mmd-dominates`; engineering defaults where no source is named."""

    ratio: float = 10.0
    """Gradient of the MMD term over that of the surrogate, above which the policy can only stay. Engineering
    default."""
    moves_nats: float = 1e-3
    """KL per update above which the policy moves all the same."""
    updates: int = 5
    """Consecutive updates beyond."""


MM = synth.like("MM-RKHS")
GRAD = "policy/mmd_grad_ratio"

CASES = (
    fires(
        "held in place", lambda: MM({GRAD: synth.flat(60, 0.1), "policy/kl_old": synth.clipped(synth.flat(1e-5), 0, 1)})
    ),
    healthy("balanced", lambda: MM({})),
    near_miss("strong, yet the policy moves", lambda: MM({GRAD: synth.flat(15, 0.1)})),
    near_miss("single batches", lambda: MM({GRAD: synth.spikes(0.5, 40, at=(0.3, 0.6))})),
)


@rule(
    "POL018",
    "mmd-dominates",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(GRAD,),
    when=("mmd",),
    params=Params(),
    cases=CASES,
    implies=("policy-frozen", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The MMD term outweighs the surrogate many times and holds the policy in place.

    What it means:
        Its gradient is more than ten times the surrogate's, and the policy hardly moves.

    Why it matters:
        Learning stops while losses look calm.

    Usual causes:
        A coefficient taken from the largest advantage of a batch, which one outlier sets; coefficient never decayed.

    What to try:
        Take the coefficient from a quantile of |advantage|; compare runs with a tenth of it.

    When it is harmless:
        When KL per update shows that the policy moves all the same; such runs are not reported.

    References:
        Gupta and Mahajan 2026, arXiv 2603.17875, section 6.
    """
    ratio = view.get(GRAD)
    assert ratio is not None
    over = persistent_onset(ratio.step, ratio.value > params.ratio, params.updates)
    if over is None:
        return None
    kl = view.get("policy/kl_old", "policy/kl_k1")
    moved = float("nan")
    if kl is not None and len(kl):
        moved = abs(median(kl.value[-params.updates :]))
        if moved > params.moves_nats:
            return None
    now = median(ratio.value[ratio.step >= over[1]])
    return Detection(
        message=f"gradient of the MMD term is {now:.3g} times the surrogate's",
        onset=view.onset(*over),
        metric=ratio.metric,
        evidence={"grad_ratio": now, "kl_nats": moved},
    )
