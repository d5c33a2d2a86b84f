"""The rule `loss-zero-benign`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import from_start
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `loss-zero-benign`. Engineering defaults where no source is named."""

    near: float = 1e-6
    """Size under which a loss counts as 0; logs print four to six decimals."""
    share: float = 0.5
    """Share of the rows in which the loss must be 0."""
    rows: int = 2
    """Rows that must be there."""


GRPO = synth.like("GRPO")
CASES = (
    fires("loss 0, gradient alive", lambda: GRPO({"optim/loss_total": synth.constant(0.0)})),
    fires(
        "loss 0, gradient not logged but KL moves",
        lambda: synth.like("GRPO", drop=("optim/grad_norm",))({"optim/loss_total": synth.constant(0.0)}),
    ),
    healthy("loss moves", lambda: GRPO({})),
    near_miss(
        "loss 0 and gradient 0: nothing is trained",
        lambda: GRPO({"optim/loss_total": synth.constant(0.0), "optim/grad_norm": synth.constant(0.0)}),
    ),
)


@rule(
    "EVA007",
    "loss-zero-benign",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.LOGGING,
    severity=Severity.INFO,
    any_of=(("optim/loss_total", "policy/loss"),),
    when=("groups",),
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """The loss prints 0 although the policy is being trained: that is by construction, not a fault.

    What it means:
        With one update per batch the ratio is 1 and group advantages sum to 0, so the value of the loss is 0 (or the
        KL term alone) while its gradient is not.

    Why it matters:
        It is often taken for a dead run. The gradient norm, the KL and the reward say whether anything is learned.

    Usual causes:
        One iteration per batch and no KL term, as in many default configurations.

    What to try:
        Nothing; watch reward and gradient norm instead of the loss.

    When it is harmless:
        Always, as long as the gradient norm is above 0.

    References:
        Shao et al. 2024, "DeepSeekMath", arXiv 2402.03300; TRL issues 2703 and 3452.
    """
    loss = view.get("optim/loss_total", "policy/loss")
    assert loss is not None
    if len(loss) < params.rows or float((np.abs(loss.value) <= params.near).mean()) < params.share:
        return None
    gradient, drift = view.get("optim/grad_norm", "optim/actor_grad_norm"), view.get("policy/kl_ref")
    if gradient is not None and len(gradient):
        alive, sign = median(gradient.value) > 0, f"gradient norm {median(gradient.value):.3g}"
    elif drift is not None and len(drift) >= params.rows:
        alive, sign = drift.last > max(drift.first, 0.0), f"KL to the reference {drift.last:.3g} nats"
    else:
        return Skip("the gradient norm tells a zero loss from a dead run", ("optim/grad_norm",))
    if not alive:
        return None
    return Detection(
        message=f"loss is 0 by construction; {sign} shows that the policy is trained",
        onset=from_start(view, loss),
        metric=loss.metric,
        evidence={"loss_abs_max": float(np.abs(loss.value).max()), "sign_of_life": sign},
    )
