"""The rule `loss-scale-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `loss-scale-collapse`: engineering defaults, except where a source is named."""

    factor: float = 2.0**-10
    """Newest loss scale over the largest: ten halvings and no way back. Engineering default."""
    points: int = 5
    """Consecutive newest points."""


PPO = synth.like("PPO")

CASES = (
    fires("halves for ever", lambda: PPO({"optim/loss_scale": synth.geometric(65536.0, 0.5, 0.0)})),
    healthy("steady", lambda: PPO({"optim/loss_scale": synth.constant(65536.0)})),
    near_miss("finds its level", lambda: PPO({"optim/loss_scale": synth.jump(65536.0, 4096.0, at=0.1, noise=0.0)})),
)


@rule(
    "NUM005",
    "loss-scale-collapse",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=("optim/loss_scale",),
    min_points=8,
    params=Params(),
    cases=CASES,
    implies=("steps-skipped", "metrics-frozen", "grad-norm-zero"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The loss scale of mixed precision has collapsed.

    What it means:
        The scaler has halved ten times or more without recovering, or is below 1.

    Why it matters:
        Gradients overflow at any scale: something in the computation is out of range; small gradients vanish.

    Usual causes:
        Infinite or NaN values in the loss; logits or ratios out of the range of fp16.

    What to try:
        Evaluate one saved batch in fp32 and in low precision; move to bf16.

    When it is harmless:
        A few halvings at the start.

    References:
        Micikevicius et al. 2018, arXiv 1710.03740.
    """
    scale = view.get("optim/loss_scale")
    assert scale is not None
    low = (scale.value <= params.factor * scale.max) | (scale.value < 1.0)
    if scale.max <= 1.0 or not bool(low[-params.points :].all()):
        return None
    onset = persistent_onset(scale.step, low, params.points)
    assert onset is not None
    return Detection(
        message=f"Loss scale fell from {scale.max:.4g} to {scale.last:.3g}",
        onset=view.onset(*onset),
        metric=scale.metric,
        evidence={"largest": scale.max, "recent": scale.last},
        severity=Severity.ERROR if bool((scale.value[-params.points :] < 1.0).all()) else None,
    )
