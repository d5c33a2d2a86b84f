"""The rule `kl-coef-not-as-set`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

METRIC = "policy/kl_coef_off"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `kl-coef-not-as-set`; engineering defaults where no source is named."""

    limit: float = 0.05
    """Coefficient of the KL term in force over that of the settings, less 1: 0 by definition."""
    rows: int = 3
    """Rows in a row that must show it."""
    step: float = 0.2
    """The same from one row to the next, up to which a coefficient that falls and stays above 0 may be a schedule."""
    large: float = 9.0
    """The same, from which the term is another one: it outweighs, or is turned round."""


CASES = (
    fires("grows by a tenth at each update", lambda: GRPO({METRIC: synth.geometric(0.1, 500.0, 0.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 4.0, at=0.5, noise=0.0)})),
    healthy("as set", lambda: GRPO({METRIC: synth.constant(0.0)})),
    fires("switched off half-way", lambda: GRPO({METRIC: synth.jump(0.0, -1.0, at=0.5, noise=0.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.001)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.5, at=(0.4,), noise=0.0)})),
)


@rule(
    "POL117",
    "kl-coef-not-as-set",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(METRIC,),
    when=("language",),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "return-collapse",
        "reward-flat",
        "reward-steps-down",
        "zero-std-groups",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "policy-frozen",
        "kl-overshoot",
        "kl-ref-runaway",
        "grad-norm-explosion",
        "policy-loss-spike",
        "loss-explosion",
        "entropy-growing",
        "smooth-decline",
        "environment-moves-at-once",
        "reward-moves-at-once",
        "advantage-sign-wrong",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The coefficient of the KL term in force is not the one that the settings name.

    What it means:
        The loss weighs the distance from the reference by another number than the trainer's arguments say.

    Why it matters:
        Too large, it pulls the policy back to where it began, whatever is paid; too small or negative, it
        does not hold.

    Usual causes:
        A controller of the coefficient with the wrong sign or target; a schedule that is not among the arguments; code
        that changes the trainer's own field.

    What to try:
        Log the coefficient and the KL side by side: a controller must lower it where the KL is below its target.

    When it is harmless:
        A schedule or controller that is meant: log the coefficient, and look whether it settles. One that falls by and
        by is a note.

    References:
        Ziegler et al. 2019, arXiv 1909.08593, section 2.2 (an adaptive coefficient).
    """
    points = view.get(METRIC)
    assert points is not None
    off = np.abs(points.value) >= params.limit
    onset = persistent_onset(points.step, off, params.rows)
    if onset is None:
        return None
    last = float(points.value[off][-1])
    return Detection(
        message=f"the KL term weighs {1 + last:.3g} times what the settings say",
        onset=view.onset(*onset),
        metric=METRIC,
        evidence={"off": last, "limit": params.limit},
        severity=_severity(points.value, params),
    )


def _severity(off: np.ndarray[Any, np.dtype[np.float64]], params: Params) -> Severity | None:
    """A coefficient that falls by and by to no less than 0 may be annealed on purpose; one that runs away is none."""
    if off.max() >= params.large or off.min() < -1:
        return Severity.ERROR
    annealed = off.max() <= params.limit and bool((np.abs(np.diff(off)) <= params.step).all())
    return Severity.INFO if annealed else None
