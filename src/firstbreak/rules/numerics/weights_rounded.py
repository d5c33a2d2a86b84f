"""The rule `weights-rounded`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

COARSE = "net/coarse_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `weights-rounded`; engineering defaults."""

    limit: float = 0.25
    """Share of the weights that end in five zero bits; by chance 1 in 32 do."""
    fine: float = 0.1
    """Share before that in some row: weights that were loaded from a shorter format are coarse until they are moved."""
    lasts: int = 2
    """Rows in a row that must show it."""


PPO = synth.like("PPO")
FINE = synth.constant(0.03)
CASES = (
    fires("rounded from the middle on", lambda: PPO({COARSE: synth.jump(0.03, 1.0, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: PPO({COARSE: FINE})),
    near_miss("loaded from a shorter format", lambda: PPO({COARSE: synth.jump(1.0, 0.03, at=0.05, noise=0.0)})),
    near_miss("one row, of a checkpoint", lambda: PPO({COARSE: synth.spikes(0.03, 1.0, at=(0.5,), noise=0.0)})),
)


@rule(
    "NUM046",
    "weights-rounded",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(COARSE,),
    min_points=4,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "weights-shrink",
        "weights-changed-outside",
        "steps-lost-in-rounding",
        "policy-jumps",
        "critic-moves-at-once",
        "policy-moves-at-once",
        "explained-variance-collapse",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Weights that are kept in float32 have come to end in zeros: something rounds them to fewer bits.

    What it means:
        Of weights that a step has moved, the last five bits are all 0 in one of 32. A large share of them are so.

    Why it matters:
        Steps smaller than the coarser unit are lost, larger ones are rounded, and rounding towards zero shrinks all
        weights at every step.

    Usual causes:
        A cast to bfloat16 and back around a step, a broadcast or a save; quantisation that writes into the weights.

    What to try:
        Print one weight with all its digits after every line of the update.

    When it is harmless:
        Training that is meant to end in a format of fewer bits.

    References:
        IEEE 754; Gupta et al. 2015, arXiv 1502.02551 (what rounding to the nearest does to small steps).
    """
    share = view.get(COARSE)
    assert share is not None
    known = np.minimum.accumulate(share.value) <= params.fine
    onset = persistent_onset(share.step, known & (share.value >= params.limit), params.lasts)
    if onset is None:
        return None
    now = median(share.value[share.step >= onset[1]])
    return Detection(
        message=f"{now:.0%} of the weights end in five zero bits; by chance 3% do",
        onset=view.onset(*onset),
        metric=COARSE,
        evidence={"coarse_frac": now},
    )
