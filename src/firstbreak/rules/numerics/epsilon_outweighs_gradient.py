"""The rule `epsilon-outweighs-gradient`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

DOMINATED = "optim/epsilon_dominated_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `epsilon-outweighs-gradient`; engineering defaults where no source is named."""

    frac: float = 0.5
    """Share of the weights whose step epsilon decides: most of them. With the usual 1e-8 it is near 0 (Wortsman et al.
    2023, arXiv 2309.14322, section 3.4, where it is a warning sign)."""
    rows: int = 5
    """Rows in a row that must show it. Engineering default."""


GRPO = synth.like("GRPO")

CASES = (
    fires("epsilon of 1e-2", lambda: GRPO({DOMINATED: synth.clipped(synth.flat(0.94, 0.01), 0, 1)})),
    fires("changed half-way", lambda: GRPO({DOMINATED: synth.jump(0.0, 0.9, at=0.5)})),
    healthy("epsilon of 1e-8", lambda: GRPO({DOMINATED: synth.constant(1e-4)})),
    near_miss("many rare tokens", lambda: GRPO({DOMINATED: synth.clipped(synth.flat(0.35, 0.03), 0, 1)})),
    near_miss("after lost moments", lambda: GRPO({DOMINATED: synth.spikes(0.0, 0.8, at=(0.5,))})),
)


@rule(
    "NUM024",
    "epsilon-outweighs-gradient",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(DOMINATED,),
    min_points=5,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("weights-hardly-move", "policy-frozen", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Adam divides most weights' steps by its epsilon, not by the size of their gradients.

    What it means:
        For most weights the root of the second moment is below epsilon.

    Why it matters:
        Adam is then gradient descent with momentum: steps shrink with the gradient, so that the learning rate means
        something else, and weights with small gradients hardly move.

    Usual causes:
        An epsilon taken from another recipe (1e-2, 1e-3, 1e-5); a loss that is divided too often (by accumulation, by
        tokens and by samples), so that gradients are tiny; epsilon below what half precision can hold.

    What to try:
        Set epsilon to 1e-8 or below the root of the second moment; look at the size of the gradients.

    When it is harmless:
        Where epsilon is large on purpose, as in DQN and its successors (1.5e-4 in Rainbow).

    References:
        Wortsman et al. 2023, arXiv 2309.14322, section 3.4. Hessel et al. 2018, arXiv 1710.02298.
    """
    points = view.get(DOMINATED)
    assert points is not None
    onset = persistent_onset(points.step, points.value >= params.frac, params.rows)
    if onset is None:
        return None
    share = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"epsilon decides the step of {share:.0%} of the weights",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"dominated_frac": share},
    )
