"""The rule `scores-not-the-models`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "policy/logprob_recomputed_gap"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `scores-not-the-models`; engineering defaults where no source is named."""

    limit: float = 0.1
    """Mean distance in nats a token between log-probabilities that the trainer uses and those of a plain forward pass
    of the same weights: 0 by definition, and below 0.03 by the rounding of 16-bit logits."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.flat(0.5, 0.1)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.8, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(1e-6)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.02)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.5, at=(0.4,), noise=0.0)})),
)


@rule(
    "NUM031",
    "scores-not-the-models",
    link=Link.NUMERICS,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "logprob-mismatch",
        "ratio-off-one",
        "ratio-off-at-first-minibatch",
        "behaviour-weight-off-one",
        "draws-unlike-policy",
        "kl-ref-nonzero-at-start",
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
    """The log-probabilities in the loss are not those of the model at these prompts and responses.

    What it means:
        A plain forward pass of the same weights over the same tokens gives other log-probabilities.

    Why it matters:
        The gradient is that of another policy than the one that samples and is evaluated.

    Usual causes:
        Padding that is attended to; a prompt that is cut off; tokens that are shifted by one; another temperature;
        dropout in a kernel; caches of older weights.

    What to try:
        Score one prompt and response by hand, without padding, and print the loss's log-probabilities beside it.

    When it is harmless:
        A model whose forward pass rolls dice on purpose.

    References:
        Reported: huggingface/trl issue 3234.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"the trainer scores responses {value:.2g} nats a token off its own model's forward pass",
        either_sign=True,
    )
