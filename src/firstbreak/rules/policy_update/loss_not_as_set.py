"""The rule `loss-not-as-set`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

RESIDUAL, SIZE = "policy/loss_residual_frac", "policy/loss_size_ratio"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `loss-not-as-set`; engineering defaults where no source is named."""

    frac: float = 0.1
    """Share of the loss's gradient, as a vector over tokens, that is not along the one that settings and advantages
    ask for: 0 by definition, and 1e-3 by the rounding of 16-bit log-probabilities."""
    size: float = 1.25
    """Length of the gradient over that of the one that is asked for, or the inverse: 1 by definition."""
    rows: int = 4
    """Rows in a row that must show it."""


CASES = (
    fires(
        "one token of each response is trained", lambda: GRPO({RESIDUAL: synth.clipped(synth.flat(0.7, 0.05), 0, 1)})
    ),
    fires("the divisor is another one, half-way", lambda: GRPO({SIZE: synth.jump(1.0, 64.0, at=0.5, noise=0.0)})),
    healthy("as set", lambda: GRPO({RESIDUAL: synth.constant(1e-4), SIZE: synth.constant(1.0)})),
    near_miss("one batch", lambda: GRPO({RESIDUAL: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
    near_miss("rounding", lambda: GRPO({RESIDUAL: synth.constant(0.01), SIZE: synth.constant(1.01)})),
)


@rule(
    "POL074",
    "loss-not-as-set",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    any_of=((RESIDUAL, SIZE),),
    min_points=4,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "policy-frozen",
        "zero-std-groups",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The gradient of the policy loss is not the one that settings, ratios and advantages ask for.

    What it means:
        The loss of GRPO gives every token of a response a weight that follows from its advantage, its ratio and the
        divisor of the loss type. The gradient that was measured has other weights: other tokens, or another size.

    Why it matters:
        Responses are reinforced in part, or unequally: credit reaches some tokens and not others, or long and short
        responses count by another measure than the settings say.

    Usual causes:
        A mask that begins or ends elsewhere; an advantage that is spread over tokens in another way; a divisor of its
        own; a clip at other bounds than those in force; a class derived from the trainer.

    What to try:
        Print the derivative of the loss by each token's log-probability for one response: equal values times the
        ratio, from its first token to its end.

    When it is harmless:
        Where a derived class means another loss, such as one with rewards per step.

    References:
        Shao et al. 2024, arXiv 2402.03300, equation 3; Yu et al. 2025, arXiv 2503.14476, equation 8.
    """
    for metric, limit in ((RESIDUAL, params.frac), (SIZE, params.size)):
        points = view.get(metric)
        if points is None:
            continue
        off = points.value > limit
        if metric == SIZE:
            off |= points.value < 1 / limit
        onset = persistent_onset(points.step, off, params.rows)
        if onset is None:
            continue
        value = median(points.value[off & (points.step >= onset[1])])
        words = f"{value:.0%} of the loss's gradient is not where the settings want it; it should be 0"
        if metric == SIZE:
            words = f"the loss's gradient is {value:.3g} times as long as the settings say; it should be 1"
        return Detection(
            message=words, onset=view.onset(*onset), metric=metric, evidence={"off": value, "limit": limit}
        )
    return None
