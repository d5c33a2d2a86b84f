"""The rule `majoriser-weight-falls`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

KL, WEIGHT = "policy/kl_old", "policy/kl_inv_eta"


@dataclass(frozen=True)
class Params:
    """Thresholds of `majoriser-weight-falls`. Engineering defaults: of 132 recorded runs of MM-RKHS (live lists and
    development half, 2026-11-26) two have a weight that moves by more than 1.3 from a row to the next, and both have it
    as their fault."""

    rows: int = 8
    """Earlier rows that say how far weight and KL of an update reach."""
    falls: float = 3.0
    """Factor by which the weight falls from one row to the next."""


MM = synth.like("MM-RKHS")
CASES = (
    fires(
        "a fiftieth of the weight from one update to the next",
        lambda: MM({WEIGHT: synth.jump(1.5, 0.03, 0.6), KL: synth.jump(0.005, 0.1, 0.6, 0.1)}),
    ),
    healthy("a schedule", lambda: MM({WEIGHT: synth.geometric(5.0, 0.5, 0.0), KL: synth.geometric(0.001, 0.01, 0.1)})),
    near_miss(
        "the weight falls, and updates are no larger",
        lambda: MM({WEIGHT: synth.jump(1.5, 0.03, 0.6), KL: synth.flat(0.005, 0.3)}),
    ),
    near_miss(
        "updates grow at the same weight",
        lambda: MM({WEIGHT: synth.flat(1.5), KL: synth.jump(0.005, 0.1, 0.6, 0.1)}),
    ),
)


@rule(
    "POL126",
    "majoriser-weight-falls",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(KL, WEIGHT),
    when=("mmd",),
    min_points=9,
    params=Params(),
    cases=CASES,
    implies=("policy-moves-at-once", "policy-jumps", "policy-leaves-past", "kl-overshoot", "entropy-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The weight that holds an update near the policy before it fell at once, and the update went further than any.

    What it means:
        MM-RKHS maximises a bound from below that is tight at the old policy: 1 / eta times the KL is what it must keep.
        From one logged update to the next that weight is a third or less, and the KL is larger than it ever was.

    Why it matters:
        With too little of it the bound is none: an update may go where the surrogate rises and the return falls.

    Usual causes:
        An eta that was set anew, or multiplied once too often; a schedule in other units; settings of another run that
        were loaded on resuming.

    What to try:
        Print eta where the loss is made, before and after; set back what it was.

    When it is harmless:
        A step of a schedule that you meant; then the KL should grow by its factor and the return should not fall.

    References:
        Hunter and Lange 2004, doi:10.1198/0003130042836 (what a majoriser must keep).
    """
    kl, weight = view.get(KL), view.get(WEIGHT)
    assert kl is not None
    assert weight is not None
    step, here, there = np.intersect1d(kl.step, weight.step, return_indices=True)
    moved, held = kl.value[here], weight.value[there]
    if step.size <= params.rows:
        return Skip("too few rows to say what is usual")
    most = np.maximum.accumulate(moved)
    fell = (held[1:] * params.falls <= held[:-1]) & (moved[1:] > most[:-1])
    found = np.flatnonzero(fell[params.rows - 1 :])
    if not found.size:
        return None
    place = int(found[0]) + params.rows
    before, now = float(held[place - 1]), float(held[place])
    return Detection(
        message=f"1 / eta fell from {before:.3g} to {now:.3g} in one row; KL {moved[place]:.3g} nats, most before "
        f"{most[place - 1]:.3g}",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=WEIGHT,
        evidence={"weight_before": before, "weight": now, "kl_nats": float(moved[place])},
    )
