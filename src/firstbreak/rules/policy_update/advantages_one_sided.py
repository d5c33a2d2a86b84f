"""The rule `advantages-one-sided`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

SIDE, DROPPED = "advantage/dropped_side", "seq/dropped_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantages-one-sided`; engineering defaults where no source is named."""

    side: float = 0.98
    """Mean side of the responses without an advantage, -1 for those paid below the mean of their group and 1 above:
    that only one side lacks it is no chance where they are many."""
    frac: float = 0.05
    """Share of the responses paid unlike their group that have the advantage 0: 0 by definition."""
    rows: int = 4
    """Batches on end that must show it."""


CASES = (
    fires(
        "what is below the mean is clamped", lambda: GRPO({SIDE: synth.constant(-1.0), DROPPED: synth.flat(0.4, 0.05)})
    ),
    fires(
        "what is above is lost, half-way",
        lambda: GRPO({SIDE: synth.constant(1.0), DROPPED: synth.jump(0.0, 0.4, at=0.5, noise=0.0)}),
    ),
    healthy("none lacks one", lambda: GRPO({DROPPED: synth.constant(0.0)})),
    near_miss("dropped by length", lambda: GRPO({SIDE: synth.flat(-0.3, 0.1), DROPPED: synth.flat(0.4, 0.05)})),
    near_miss("a few", lambda: GRPO({SIDE: synth.constant(-1.0), DROPPED: synth.constant(0.01)})),
)


@rule(
    "POL080",
    "advantages-one-sided",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    needs=(SIDE, DROPPED),
    min_points=4,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "responses-dropped",
        "advantage-mean-biased",
        "groups-not-centred",
        "survivors-are-short",
        "length-collapse",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "zero-std-groups",
        "reward-flat",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Only responses on one side of their group's mean have an advantage.

    What it means:
        Responses paid below the mean of their group have the advantage 0, or all those above it: a clamp, since what
        is lost by length, time or place is lost on both sides.

    Why it matters:
        Without the negative side every sampled response that is kept is made likelier; the baseline no longer cancels,
        and entropy falls without bound.

    Usual causes:
        A clamp or `relu` at 0; positive examples only; a weight of 0 for one sign.

    What to try:
        Print the advantages of one group: they sum to 0 by definition.

    When it is harmless:
        Where a method trains on the best responses only, by intent (rejection sampling).

    References:
        Shao et al. 2024, arXiv 2402.03300, section 4.1.2; Zhu et al. 2025, arXiv 2506.01347 (what each sign does).
    """
    side, dropped = view.get(SIDE), view.get(DROPPED)
    assert side is not None
    assert dropped is not None
    many = np.interp(side.step, dropped.step, dropped.value) >= params.frac
    onset = persistent_onset(side.step, (abs(side.value) >= params.side) & many, params.rows)
    if onset is None:
        return None
    share = median(dropped.value[dropped.step >= onset[1]])
    where = "below" if median(side.value[side.step >= onset[1]]) < 0 else "above"
    return Detection(
        message=f"{share:.0%} of the responses, all paid {where} the mean of their group, have no advantage",
        onset=view.onset(*onset),
        metric=SIDE,
        evidence={"dropped_frac": share, "side": where},
    )
