"""The rule `advantage-sign-wrong`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

CORRELATION, AGREEMENT = "advantage/return_corr", "advantage/reward_agreement"
ORDER = "advantage/order_agreement"
SAYS = {
    CORRELATION: "advantage and (value target - value) correlate at {:.2f}; GAE makes it 1",
    ORDER: "advantages agree with the rewards of their group at {:.2f}; by definition at 1",
    AGREEMENT: "the loss follows the reward at {:.2f}: what is paid above its group's mean is made rarer",
}


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantage-sign-wrong`; engineering defaults where no source is named."""

    against: float = -0.5
    """Correlation of advantage and value error that proves the sign wrong. With generalised advantage estimation it is
    1 by construction (Schulman et al. 2016, section 3), with V-trace positive (Espeholt et al. 2018, section 4.1). So
    is the agreement of advantage or loss and reward in a group (Shao et al. 2024, equation 3); terms of KL can bring
    that of the loss to 0."""
    rows: int = 2
    """Rows in a row in which advantages or loss of groups must go against the reward: single batches may hold one
    group that differs. Engineering default."""


PPO, GRPO = synth.like("PPO"), synth.like("GRPO")

CASES = (
    fires("sign flipped half-way", lambda: PPO({CORRELATION: synth.jump(1.0, -1.0, at=0.5)})),
    fires("wrong from the start", lambda: PPO({CORRELATION: synth.constant(-1.0)})),
    fires("a loss of groups that pushes the wrong way", lambda: GRPO({AGREEMENT: synth.jump(1.0, -1.0, at=0.5)})),
    fires("advantages of groups with the wrong sign", lambda: GRPO({ORDER: synth.jump(1.0, -1.0, at=0.5)})),
    healthy("1 by construction", lambda: PPO({CORRELATION: synth.flat(1.0, 1e-6)})),
    healthy("a loss that follows the reward", lambda: GRPO({AGREEMENT: synth.constant(1.0)})),
    near_miss("another estimator", lambda: PPO({CORRELATION: synth.flat(0.3, 0.1)})),
    near_miss("the anchor outweighs the reward", lambda: GRPO({AGREEMENT: synth.clipped(synth.flat(0, 0.3), -1, 1)})),
    near_miss("one batch of two responses", lambda: GRPO({AGREEMENT: synth.spikes(1.0, -1.0, at=(0.4,))})),
)


@rule(
    "POL033",
    "advantage-sign-wrong",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    any_of=((CORRELATION, ORDER, AGREEMENT),),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "return-collapse",
        "entropy-collapse",
        "explained-variance-collapse",
        "smooth-decline",
        "zero-std-groups",
        "reward-std-collapse",
        "token-entropy-collapse",
        "truncation-growing",
        "response-collapse",
        "echo-trap",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Advantages are large where returns fall short of what was expected, and small where they exceed it.

    What it means:
        Over a rollout the advantage correlates negatively with the value target minus the value, which it should be;
        or what is paid above the mean of its group has a negative advantage; or the gradient of the loss makes those
        responses rarer.

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
        Schulman et al. 2016, arXiv 1506.02438, section 3. Shao et al. 2024, arXiv 2402.03300, equation 3.
    """
    for metric, rows in ((CORRELATION, 1), (ORDER, params.rows), (AGREEMENT, params.rows)):
        points = view.get(metric)
        onset = None if points is None else persistent_onset(points.step, points.value <= params.against, rows)
        if points is None or onset is None:
            continue
        since = median(points.value[points.step >= onset[1]])
        return Detection(
            message=SAYS[metric].format(since),
            onset=view.onset(*onset),
            metric=metric,
            evidence={"correlation": since},
        )
    return None
