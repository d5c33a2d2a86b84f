"""The rule `loss-explosion`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats.level import sustained_jump
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `loss-explosion`: engineering defaults, except where a source is named."""

    factor: float = 1e3
    """Newest size of the loss over the 90th percentile of everything before. Engineering default."""
    certain: float = 1e6
    """Factor that no learning explains."""
    floor: float = 1.0
    """Least size of the reference: policy losses are about 0 by construction, so ratios to them mean nothing."""
    points: int = 3
    """Consecutive newest points."""
    history: int = 20
    """Points before the jump that state the level."""


PPO = synth.like("PPO")
GRPO = synth.like("GRPO")

LOSSES = ("optim/loss_total", "policy/loss_total")

CASES = (
    fires("loss explodes", lambda: PPO({"optim/loss_total": synth.jump(0.5, 5e4, at=0.6)})),
    healthy("loss of order one", lambda: PPO({"optim/loss_total": synth.flat(0.5, 0.3)})),
    near_miss("group loss leaves zero", lambda: GRPO({"optim/loss_total": synth.ramp(0.0, 0.05)})),
    near_miss("one spike", lambda: PPO({"optim/loss_total": synth.spikes(0.5, 1e5, at=(0.5,))})),
)


@rule(
    "NUM011",
    "loss-explosion",
    link=Link.NUMERICS,
    component=Component.LOSS,
    severity=Severity.WARNING,
    any_of=(("optim/loss_total", "policy/loss_total"),),
    min_points=23,
    params=Params(),
    cases=CASES,
    implies=("nonfinite-metric", "grad-norm-explosion", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The loss has grown a thousandfold and stays there.

    What it means:
        Several losses in a row are a thousand times the 90th percentile of all before.

    Why it matters:
        It is the last stop before NaN, and what was learned is being overwritten.

    Usual causes:
        Reward outlier; ratio tail; divergence of the critic; overflow.

    What to try:
        Take the loss apart into its terms on the batch at the onset.

    When it is harmless:
        A loss of about 0 (group methods at ratio 1) that starts to show its KL part.

    References:
        Pascanu et al. 2013, arXiv 1211.5063.
    """
    loss = view.get(*LOSSES)
    assert loss is not None
    size = np.abs(loss.value)
    jump = sustained_jump(size, params.factor, params.points, params.history, params.floor)
    if jump is None:
        return None
    place, top = jump
    ratio = float(size[place : place + params.points].min()) / top
    return Detection(
        message=f"Loss reached {float(size[place]):.3g}, {ratio:.3g} times its level before ({top:.3g})",
        onset=view.onset(float(loss.step[place - 1]), float(loss.step[place])),
        metric=loss.metric,
        evidence={"recent": loss.last, "before": top, "ratio": ratio},
        severity=Severity.ERROR if ratio >= params.certain else None,
    )
