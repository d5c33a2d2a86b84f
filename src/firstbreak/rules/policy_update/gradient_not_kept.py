"""The rule `gradient-not-kept`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

LOST, LEFT = "optim/gradient_lost_frac", "optim/gradient_left_frac"
ALTERED = "optim/gradient_altered_frac"
WORDS = {
    LOST: "{:.0%} of what earlier micro-batches added to the gradient is lost before the next; it should be 0",
    LEFT: "{:.0%} of an update's gradient is left from before; it should be 0",
    ALTERED: "{:.0%} of the gradient at the step is not along what the loss left; it should be 0",
}

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `gradient-not-kept`; engineering defaults where no source is named."""

    limit: float = 0.1
    """Share of the gradient: 0 by construction, since backward adds to what is there and a step begins anew."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("zeroed before each micro-batch", lambda: GRPO({LOST: synth.constant(1.0)})),
    fires("not zeroed after a step, half-way", lambda: GRPO({LEFT: synth.jump(0.0, 0.9, at=0.5, noise=0.0)})),
    fires("noise is added", lambda: GRPO({ALTERED: synth.clipped(synth.flat(0.6, 0.1), 0, 1)})),
    healthy(
        "kept", lambda: GRPO({LOST: synth.constant(0.0), LEFT: synth.constant(0.0), ALTERED: synth.constant(1e-3)})
    ),
    near_miss("one row", lambda: GRPO({ALTERED: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
    near_miss("a little noise", lambda: GRPO({ALTERED: synth.constant(0.03)})),
)


@rule(
    "POL079",
    "gradient-not-kept",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    any_of=((LOST, LEFT, ALTERED),),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "grad-norm-explosion",
        "policy-jumps",
        "accumulation-window-mismatch",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "zero-std-groups",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Gradients are lost, left over or changed between the loss and the step of the optimiser.

    What it means:
        The gradient of an update is the sum over its micro-batches. On the way to the step some of it vanished, some of
        the last update was still there, or its direction changed.

    Why it matters:
        The optimiser follows another batch than the one that was paid for, or noise.

    Usual causes:
        Zeroing at the wrong place; accumulation that two libraries do; hooks that clip by value, add noise or replace
        gradients.

    What to try:
        Print the norm of the gradient after each micro-batch and at the step: only its length may change.

    When it is harmless:
        Clipping by value or noise that is meant (privacy).

    References:
        PyTorch, documentation of torch.Tensor.backward: gradients accumulate in the leaves.
    """
    for metric in (LOST, LEFT, ALTERED):
        points = view.get(metric)
        onset = None if points is None else persistent_onset(points.step, points.value >= params.limit, params.rows)
        if points is None or onset is None:
            continue
        share = median(points.value[points.step >= onset[1]])
        return Detection(
            message=WORDS[metric].format(share),
            onset=view.onset(*onset),
            metric=metric,
            evidence={"gradient_frac": share},
        )
    return None
