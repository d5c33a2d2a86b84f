"""The rule `weight-norm-growth`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset, rank_correlation
from firstbreak.view import Points, RunView

NORM = "net/weight_norm"
POSITIONS = 40
"""Places, evenly spread over the time so far, at which the norm is read. How many rows lie between them does not
matter: a log that is written eight times as often gives the same answer."""
EARLY, LATE = slice(2, 7), slice(-5, None)
"""From 5 % to 15 % of the time so far, and its last tenth: what a network gains while it first finds the scale of what
it is to predict is learning."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `weight-norm-growth`: engineering defaults, except where a source is named."""

    some: float = 3.0
    """Norm of the weights now over that after a tenth of the time, worth a note. Engineering default."""
    much: float = 10.0
    """Factor at which updates have become a tenth as large in relation. In unbroken trainings it stays below 5."""
    rise: float = 0.9
    """Spearman's rank correlation of norm and time: 1 where it never falls, however the curve bends."""


PPO, DQN = synth.like("PPO"), synth.like("DQN")
OFTEN = synth.like("DQN", n=2400)


def learned(t: Floats, rng: np.random.Generator) -> Floats:
    """The norm [n] of a critic's weights: fivefold, three quarters of it in the first third of the run."""
    return 40 + 160 * (1 - np.exp(-4 * t)) + rng.standard_normal(t.size)


CASES = (
    fires("grows twentyfold", lambda: PPO({NORM: synth.geometric(10, 200, 0.01)})),
    fires("grows twentyfold, in twenty times as many rows", lambda: OFTEN({NORM: synth.geometric(10, 200, 0.01)})),
    healthy("steady", lambda: PPO({NORM: synth.flat(10, 0.01)})),
    near_miss("doubles", lambda: PPO({NORM: synth.geometric(10, 20, 0.01)})),
    near_miss("fivefold while values are learned", lambda: DQN({NORM: learned})),
    near_miss("the same in twenty times as many rows", lambda: OFTEN({NORM: learned})),
)


def evenly(norm: Points) -> tuple[Floats, Floats]:
    """Return `POSITIONS` positions, evenly spread over the time so far, and the norm there."""
    at: Floats = np.linspace(float(norm.step[0]), float(norm.step[-1]), POSITIONS)
    return at, np.interp(at, norm.step, norm.value)


@rule(
    "NUM010",
    "weight-norm-growth",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.INFO,
    needs=(NORM,),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("dormant-units", "feature-rank-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The norm of the weights keeps growing.

    What it means:
        Weights are several times as large as after the first tenth of the run so far, along a clear trend.

    Why it matters:
        The same step changes the network less and less, and activations saturate.

    Usual causes:
        Long runs without weight decay or normalisation; diverging targets.

    What to try:
        Weight decay or layer normalisation; look at the ratio of update to weight.

    When it is harmless:
        Growth from a tiny start that levels off: values of a hundred want larger weights than values near 0.

    References:
        Lyle et al. 2023, arXiv 2303.01486.
    """
    norm = view.get(NORM)
    assert norm is not None
    at, value = evenly(norm)
    start, recent = median(value[EARLY]), median(value[LATE])
    if start <= 0 or recent < params.some * start or rank_correlation(at, value) < params.rise:
        return None
    over = persistent_onset(norm.step, norm.value >= params.some * start, 3) or (
        float(norm.step[0]),
        float(norm.step[-1]),
    )
    return Detection(
        message=f"Weights grew {recent / start:.3g}-fold, from a norm of {start:.3g} to {recent:.3g}",
        onset=view.onset(*over),
        metric=norm.metric,
        evidence={"after_a_tenth": start, "recent": recent},
        severity=Severity.WARNING if recent >= params.much * start else None,
    )
