"""The rule `second-moment-fell`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import RunLog
from firstbreak.view import RunView

MOMENT = "optim/second_moment"


@dataclass(frozen=True)
class Params:
    """Thresholds of `second-moment-fell`."""

    beta2: float = 0.9
    """Decay a step where the settings do not say it: below any in use. The mean can never fall below beta2 times
    itself in one step, whatever the gradient (Kingma and Ba 2015, arXiv 1412.6980, algorithm 1)."""
    slack: float = 0.5
    """Share of that bound that must be undercut, for half-precision states. Engineering default."""


def grpo(shape: synth.Shape, **config: object) -> RunLog:
    """A run of GRPO with this second moment."""
    return synth.like("GRPO", config=config)({MOMENT: shape})


CASES = (
    fires("moments emptied half-way", lambda: grpo(synth.jump(1e-6, 1e-9, at=0.5))),
    fires("emptied, beta2 given", lambda: grpo(synth.jump(1e-6, 3e-7, at=0.5), adam_beta2=0.999)),
    healthy("as usual", lambda: grpo(synth.flat(1e-6, 1e-8))),
    near_miss("decays as fast as it can", lambda: grpo(synth.geometric(1e-4, 1e-9, 0.0), adam_beta2=0.9)),
    near_miss("halved at once, beta2 not known", lambda: grpo(synth.jump(1e-6, 5e-7, at=0.5))),
)


@rule(
    "POL047",
    "second-moment-fell",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(MOMENT,),
    min_points=2,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("kl-overshoot", "policy-jumps", "optimiser-state-lost", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Adam's second moment fell further than its own decay allows: the optimiser's state was lost.

    What it means:
        Each step keeps beta2 of the second moment and adds a square. It is now below what is left of it after that.

    Why it matters:
        The next steps are several times too large, since they are divided by a moment that is nearly empty: by
        sqrt((1 - beta1)^2 / (1 - beta2)), about 3, and in a random direction.

    Usual causes:
        A checkpoint without optimiser state; an optimiser made anew after an evaluation, a merge of adapters or a
        change of the trainable weights; states moved to another device and not back.

    What to try:
        Save and load the optimiser with the model; compare the state of one weight before and after.

    When it is harmless:
        Where the optimiser is reset on purpose (arXiv 2306.17833); then expect the jump, and warm the rate up.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, algorithm 1. Asadi et al. 2023, arXiv 2306.17833.
    """
    points = view.get(MOMENT)
    assert points is not None
    if len(points) < 2:
        return None
    beta2 = view.number("adam_beta2") or params.beta2
    least = params.slack * points.value[:-1] * beta2 ** np.maximum(np.diff(points.step), 1.0)
    fell = np.flatnonzero(points.value[1:] < least)
    if not fell.size:
        return None
    at = int(fell[0])
    before, after = float(points.value[at]), float(points.value[at + 1])
    return Detection(
        message=f"Adam's second moment fell from {before:.3g} to {after:.3g}, further than beta2 lets it",
        onset=view.onset(float(points.step[at]), float(points.step[at + 1])),
        metric=points.metric,
        evidence={"before": before, "after": after, "beta2": beta2},
    )
