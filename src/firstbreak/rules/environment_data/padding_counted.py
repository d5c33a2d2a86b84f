"""The rule `padding-counted`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "seq/counted_past_end_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `padding-counted`; engineering defaults where no source is named."""

    limit: float = 0.02
    """Share of the responses of which tokens count after the end at which the sampler stops: 0 by construction."""
    rows: int = 2
    """Batches on end that must show it."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(0.8)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.8, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("next to nothing", lambda: GRPO({METRIC: synth.constant(0.005)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.8, at=(0.4,), noise=0.0)})),
)


@rule(
    "ENV086",
    "padding-counted",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(METRIC,),
    when=("language",),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "zero-std-groups",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "advantage-collapse",
        "smooth-decline",
        "draws-too-alike",
        "echo-trap",
        "truncation-growing",
        "unsampled-tokens-trained",
        "ends-unlike-policy",
        "draws-unlike-policy",
        "all-truncated",
        "no-eos-from-start",
        "truncation-scored-wrong",
        "advantages-misplaced",
        "loss-not-as-set",
        "responses-pass-their-end",
        "entropy-growing",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Padding after the end of a response counts as response.

    What it means:
        Generation stops at an end token, and the mask of the response goes on: the trainer does not know that token.

    Why it matters:
        Tokens that nobody drew are scored, trained and counted; finished responses count as cut off.

    Usual causes:
        A second end token that only the generation's settings name (chat models have two); end tokens that were read
        from another tokenizer.

    What to try:
        Print `generation_config.eos_token_id` beside the end tokens that the trainer masks by, and one response with
        its mask.

    When it is harmless:
        Never known to be; responses of several turns are not judged.

    References:
        TRL issue 7039.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"of {value:.0%} of the responses, tokens after their end count: padding is taken for response",
    )
