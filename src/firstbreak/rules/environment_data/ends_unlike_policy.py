"""The rule `ends-unlike-policy`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "sample/end_unlike_policy_z"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `ends-unlike-policy`; engineering defaults where no source is named."""

    limit: float = 5.0
    """Standard deviations by which responses end more or less often than the policy's own probability of the end token
    says: 0 in the mean by definition; Freedman's bound makes 5 a chance of 1e-5."""
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
    "ENV044",
    "ends-unlike-policy",
    link=Link.ENVIRONMENT_DATA,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "draws-unlike-policy",
        "draws-too-alike",
        "truncation-growing",
        "all-truncated",
        "return-collapse",
        "reward-redefined",
        "zero-std-groups",
        "reward-flat",
        "task-too-hard",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-steps-down",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses end earlier or later than the policy itself would end them.

    What it means:
        At every token the policy says how likely the end is. Summed over responses, ends came much more or less often
        than that.

    Why it matters:
        Something beside the policy decides on the length; what it would have said is never paid.

    Usual causes:
        A least or forced length; end tokens that are suppressed or added; prompts that the sampler gets otherwise
        padded or cut than the trainer scores them.

    What to try:
        Print end tokens, length limits and the tokens of one prompt as the sampler gets them and as the trainer does.

    When it is harmless:
        Nowhere in training: what is drawn must be the policy's own.

    References:
        Freedman 1975, doi:10.1214/aop/1176996452, theorem 1.6.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"responses end {abs(value):.1f} standard deviations off the policy's own probability of the end",
        either_sign=True,
    )
