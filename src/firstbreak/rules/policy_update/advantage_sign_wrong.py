"""The rule `advantage-sign-wrong`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

CORRELATION = "advantage/return_corr"


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantage-sign-wrong`; engineering defaults where no source is named."""

    against: float = -0.5
    """Correlation of advantage and value error that proves the sign wrong. With generalised advantage estimation it is
    1 by construction (Schulman et al. 2016, section 3), with V-trace positive (Espeholt et al. 2018, section 4.1)."""


PPO = synth.like("PPO")

CASES = (
    fires("sign flipped half-way", lambda: PPO({CORRELATION: synth.jump(1.0, -1.0, at=0.5)})),
    fires("wrong from the start", lambda: PPO({CORRELATION: synth.constant(-1.0)})),
    healthy("1 by construction", lambda: PPO({CORRELATION: synth.flat(1.0, 1e-6)})),
    near_miss("another estimator", lambda: PPO({CORRELATION: synth.flat(0.3, 0.1)})),
)


@rule(
    "POL033",
    "advantage-sign-wrong",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    needs=(CORRELATION,),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("return-collapse", "entropy-collapse", "explained-variance-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Advantages are large where returns fall short of the value, and small where they exceed it.

    What it means:
        Over a rollout the advantage correlates negatively with the value target minus the value, which it should be.

    Why it matters:
        The policy is pushed towards the actions that turned out worse than expected. It unlearns, and no loss shows it.

    Usual causes:
        Returns minus values taken the wrong way round; costs taken for rewards in one of two places; a sign that was
        changed to turn a loss into an objective, twice.

    What to try:
        On one rollout print advantage, value and value target side by side; one update must raise the
        log-probability of the action with the largest advantage.

    When it is harmless:
        When the algorithm minimises a cost and defines its advantages so.

    References:
        Schulman et al. 2016, arXiv 1506.02438, section 3.
    """
    points = view.get(CORRELATION)
    assert points is not None
    onset = persistent_onset(points.step, points.value <= params.against, 1)
    if onset is None:
        return None
    since = points.value[points.step >= onset[1]]
    return Detection(
        message=f"advantage and (value target - value) correlate at {median(since):.2f}; GAE makes it 1",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"correlation": median(since)},
    )
