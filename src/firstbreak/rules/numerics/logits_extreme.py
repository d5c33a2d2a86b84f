"""The rule `logits-extreme`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `logits-extreme`: engineering defaults, except where a source is named."""

    logits: float = 100.0
    """Largest logit: a gap of 100 nats leaves nothing of any other choice in fp32. Engineering default."""
    tanh: float = 10.0
    """Largest mean before the squash for continuous actions: tanh is 1 in fp32 from about 9 on."""
    points: int = 5
    """Consecutive newest points."""
    growth: float = 3.0
    """Newest over the opening: a level that was always there is not a drift."""


PPO = synth.like("PPO")
SAC_C = synth.like("SAC", config={"action_space": "continuous", "action_dim": 3})

CASES = (
    fires("logits run away", lambda: PPO({"policy/logit_abs_max": synth.geometric(5, 400)})),
    fires("squashed policy saturates", lambda: SAC_C({"policy/logit_abs_max": synth.geometric(1, 30)})),
    healthy("small logits", lambda: PPO({"policy/logit_abs_max": synth.flat(6, 0.1)})),
    near_miss("growing but moderate", lambda: PPO({"policy/logit_abs_max": synth.geometric(2, 40)})),
)


@rule(
    "NUM013",
    "logits-extreme",
    link=Link.NUMERICS,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=("policy/logit_abs_max",),
    min_points=8,
    params=Params(),
    cases=CASES,
    implies=("nonfinite-metric", "entropy-collapse", "action-saturation", "grad-norm-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Logits (or means before the squash) have left the range where probabilities can be told apart.

    What it means:
        The largest value is beyond 100 for logits, beyond 10 before a tanh, and has grown there.

    Why it matters:
        Log-probabilities turn infinite or their gradients vanish; NaN is usually next.

    Usual causes:
        No entropy left; step size too large; rewards on a huge scale; no bound on the mean.

    What to try:
        Check the temperature or entropy bonus; clamp or penalise the mean; compute log-probs in fp32.

    When it is harmless:
        Masked actions with a large negative constant: log the largest of the valid ones.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, appendix C (squash correction).
    """
    largest = view.get("policy/logit_abs_max")
    assert largest is not None
    squashed = view.config("action_space") == "continuous"
    limit = params.tanh if squashed else params.logits
    over = largest.value > limit
    if not bool(over[-params.points :].all()) or largest.last < params.growth * opening(largest.value):
        return None
    onset = persistent_onset(largest.step, over, params.points)
    assert onset is not None
    return Detection(
        message=(
            f"Largest {'mean before the squash' if squashed else 'logit'} is {largest.last:.3g} (limit {limit:g})"
        ),
        onset=view.onset(*onset),
        metric=largest.metric,
        evidence={"recent": largest.last, "limit": limit},
    )
