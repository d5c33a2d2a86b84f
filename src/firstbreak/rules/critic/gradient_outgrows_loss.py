"""The rule `gradient-outgrows-loss`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats.change import least_of
from firstbreak.view import Points, RunView

GRADIENT, LOSS = "optim/critic_grad_norm", "critic/loss"


@dataclass(frozen=True)
class Params:
    """Thresholds of `gradient-outgrows-loss`. Of 1,300 recorded runs (development half and live campaigns, corpus of
    2026-11-26) no unbroken one reaches all of them."""

    rows: int = 16
    """Rows on end that say what is usual."""
    times: float = 3.0
    """Times the largest gradient of those rows that every later one reaches."""
    lasts: int = 2
    """Rows in a row that must show it."""
    loss: float = 1.2
    """Times the largest loss of those rows that the loss may reach: the gradient of a squared error goes with its
    root, so that a loss a fifth higher explains a gradient a tenth larger."""


PPO = synth.like("PPO")
LARGER = synth.jump(0.17, 1.05, at=0.6, noise=0.1)
CASES = (
    fires("six times as large of the same loss", lambda: PPO({GRADIENT: LARGER, LOSS: synth.flat(0.2, 0.2)})),
    healthy("as ever", lambda: PPO({GRADIENT: synth.flat(0.17, 0.2), LOSS: synth.flat(0.2, 0.2)})),
    near_miss("the loss rose with it", lambda: PPO({GRADIENT: LARGER, LOSS: synth.jump(0.2, 6.0, at=0.6, noise=0.2)})),
    near_miss("twice as large", lambda: PPO({GRADIENT: synth.jump(0.17, 0.34, at=0.6), LOSS: synth.flat(0.2, 0.2)})),
    near_miss("one row", lambda: PPO({GRADIENT: synth.spikes(0.17, 1.0, (0.6,), 0.1), LOSS: synth.flat(0.2, 0.2)})),
)


@rule(
    "CRT042",
    "gradient-outgrows-loss",
    link=Link.CRITIC,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(GRADIENT, LOSS),
    min_points=18,
    params=Params(),
    cases=CASES,
    implies=("critic-gradient-explosion", "grad-norm-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's gradient is suddenly several times as large as ever, of a loss that is no larger.

    What it means:
        In every row the norm of the gradient is at least three times the largest of the rows before, while the loss it
        is the gradient of is where it was.

    Why it matters:
        Steps no longer follow this batch: what was added holds older batches, or another scale. Where gradients are
        clipped, direction and not size is what is lost, and little else shows it.

    Usual causes:
        `zero_grad` left out, so that gradients add up; a loss that is scaled, summed or counted several times; a loss
        scale that is not divided out again; another loss on shared weights.

    What to try:
        Compute the gradient of one stored batch from zero, and compare it with the one that is in `.grad` before the
        step.

    When it is harmless:
        Another weight of the value loss that you set on purpose.

    References:
        Mathematics of least squares: the gradient of a mean squared error e is 2 e times that of the prediction.
    """
    gradient, loss = view.get(GRADIENT), view.get(LOSS)
    assert gradient is not None
    assert loss is not None
    value = gradient.value
    if value.size < params.rows + params.lasts:
        return None
    most = -least_of(-value, params.rows)
    lasting = least_of(value, params.lasts)[params.rows :]
    usual = most[: lasting.size]
    for place in (np.flatnonzero((lasting > params.times * usual) & (usual > 0)) + params.rows).tolist():
        if explained(gradient, loss, place, params):
            continue
        most_before, now = float(usual[place - params.rows]), float(value[place])
        return Detection(
            message=f"the gradient's norm is {now:.3g}, {now / most_before:.2g} times its most; the loss is as before",
            onset=view.onset(float(gradient.step[place - 1]), float(gradient.step[place])),
            metric=GRADIENT,
            evidence={"now": now, "most_before": most_before},
        )
    return None


def explained(gradient: Points, loss: Points, place: int, params: Params) -> bool:
    """Whether the loss rose with the gradient at `place`, or is not known there."""
    first, start = gradient.step[place - params.rows], gradient.step[place]
    last = gradient.step[place + params.lasts - 1]
    size = np.abs(loss.value)
    before, after = size[(loss.step >= first) & (loss.step < start)], size[(loss.step >= start) & (loss.step <= last)]
    return not (before.size and after.size) or float(after.max()) > params.loss * float(before.max())
