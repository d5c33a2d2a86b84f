"""The rule `draws-unlike-policy`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "sample/unlike_policy_z"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `draws-unlike-policy`; engineering defaults where no source is named."""

    limit: float = 5.0
    """Standard deviations between the log-probabilities of what was drawn and their mean under the policy, minus its
    entropy: 0 in the mean by definition; Freedman's bound makes 5 a chance of 1e-5."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.flat(-12.0, 1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 9.0, at=0.5, noise=0.3)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.flat(0.0, 1.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.flat(2.5, 0.5)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 8.0, at=(0.4,), noise=0.3)})),
)


@rule(
    "DAT035",
    "draws-unlike-policy",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "draws-too-alike",
        "logprob-mismatch",
        "reward-flat",
        "zero-std-groups",
        "task-too-hard",
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
    """Responses are not draws from the policy that scores them.

    What it means:
        Of a draw, log-probability and entropy cancel in the mean at every token. Over some hundred tokens they do not:
        the responses come from another distribution.

    Why it matters:
        The policy gradient holds for the policy's own draws only; learning goes astray without any sign in the loss.

    Usual causes:
        A sampler with old or rounded weights; prompts that it gets otherwise padded, cut or templated; a transform of
        its logits that is not scored.

    What to try:
        Score one batch with sampler and trainer; compare weights, tokens, masks and settings of generation.

    When it is harmless:
        Where importance weights correct for it.

    References:
        Freedman 1975, doi:10.1214/aop/1176996452, theorem 1.6.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"what is drawn lies {abs(value):.1f} standard deviations off the policy that scores it",
        either_sign=True,
    )
