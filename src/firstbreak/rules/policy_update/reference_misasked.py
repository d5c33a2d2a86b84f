"""The rule `reference-misasked`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "policy/ref_logprob_recomputed_gap"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `reference-misasked`; engineering defaults where no source is named."""

    limit: float = 0.1
    """Mean distance in nats a token between the reference's log-probabilities in the loss and those of its own forward
    pass over the same prompts and responses: 0 by definition, and below 0.03 by the rounding of 16-bit logits."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.flat(1.5, 0.1)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.8, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(1e-6)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.02)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.5, at=(0.4,), noise=0.0)})),
)


@rule(
    "POL078",
    "reference-misasked",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "kl-ref-nonzero-at-start",
        "kl-ref-runaway",
        "reference-moves",
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
    """The reference's log-probabilities in the loss are not those of the reference at these prompts.

    What it means:
        Asked again for the same prompts and responses, the reference gives other log-probabilities than those that the
        loss was handed.

    Why it matters:
        The KL term holds the policy to something that nobody chose: its own first guess at another question.

    Usual causes:
        Responses that are scored without their prompt; another mask of attention, template or temperature for the
        reference; adapters that are not switched off; scores of another batch.

    What to try:
        Score one prompt and response with the reference by hand, and print what the loss gets beside it.

    When it is harmless:
        Nowhere: dropout in the reference would be a fault as well.

    References:
        Stiennon et al. 2020, arXiv 2009.01325, section 3 (the penalty is one given the post).
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"the reference scores responses {value:.2g} nats a token off what the loss takes for its scores",
        either_sign=True,
    )
