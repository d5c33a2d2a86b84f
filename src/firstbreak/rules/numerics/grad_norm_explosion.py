"""The rule `grad-norm-explosion`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import robust_z
from firstbreak.stats.level import sustained_jump
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `grad-norm-explosion`: engineering defaults, except where a source is named."""

    factor: float = 10.0
    """Newest gradient norms over the 90th percentile of everything before: beyond what single batches do. Engineering
    default."""
    far: float = 100.0
    """Factor that makes it certain."""
    points: int = 3
    """Consecutive points; a single bad batch returns to the level before."""
    history: int = 20
    """Points before the jump that state the level."""
    z: float = 6.0
    """Robust z on the logarithm against the history."""


PPO = synth.like("PPO")

NORMS = ("optim/grad_norm", "optim/actor_grad_norm")

CASES = (
    fires("explodes mid-run", lambda: PPO({"optim/grad_norm": synth.jump(0.6, 200.0, at=0.6)})),
    healthy("steady", lambda: PPO({})),
    near_miss("single batches", lambda: PPO({"optim/grad_norm": synth.spikes(0.6, 300.0, at=(0.3, 0.7), noise=0.2)})),
    near_miss(
        "vanished when the policy sat at its bounds, and is back where it began",
        lambda: PPO(
            {"optim/grad_norm": synth.after(0.6, synth.flat(0.3, 0.03), synth.geometric(0.6, 1e-3, until=0.04))}
        ),
    ),
    near_miss("grows tenfold over the run", lambda: PPO({"optim/grad_norm": synth.geometric(0.6, 6.0, 0.2)})),
)


@rule(
    "NUM002",
    "grad-norm-explosion",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    any_of=(("optim/grad_norm", "optim/actor_grad_norm"),),
    min_points=23,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("kl-overshoot", "policy-loss-spike", "nonfinite-metric", "return-collapse", "loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Gradients have grown by orders of magnitude and stay there.

    What it means:
        Several gradient norms in a row lie ten times above the 90th percentile of all before.

    Why it matters:
        Clipping turns such gradients into full-size steps in one direction; under Adam it does not even shrink them
        in proportion.

    Usual causes:
        Reward or advantage outlier; tail of the importance ratio; wrong mask; saturated policy; step size too large.

    What to try:
        Replay the batch at the onset with learning rate 0 and measure the gradient of each loss term.

    When it is harmless:
        A change of the loss from mean to sum, or of the batch size, moves the norm once and for all.

    References:
        Pascanu et al. 2013, arXiv 1211.5063.
    """
    norms = view.get(*NORMS)
    assert norms is not None
    if "post_clip" in norms.source.aggregation:
        return Skip("the gradient norm was logged after clipping", NORMS[:1])
    value = norms.value[norms.value > 0]
    step = norms.step[norms.value > 0]
    jump = sustained_jump(value, params.factor, params.points, params.history)
    if jump is None:
        return None
    place, top = jump
    recent = value[place : place + params.points]
    ratio = float(recent.min()) / top
    if float(recent.min()) <= float(value[: params.points].max()):
        return None  # a gradient that had vanished is back where the run began
    if float(robust_z(np.log(recent), np.log(value[:place][-256:]), floor=0.1).min()) < params.z:
        return None
    return Detection(
        message=(
            f"Gradient norm is {float(recent.max()):.3g}, {ratio:.3g} times the 90th percentile before ({top:.3g})"
        ),
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=norms.metric,
        evidence={"recent": float(recent.max()), "before": top, "ratio": ratio},
        severity=Severity.ERROR if ratio >= params.far else None,
    )
