"""The rule `responses-stop-early`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "seq/ended_elsewhere_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `responses-stop-early`; engineering defaults where no source is named."""

    limit: float = 0.02
    """Share of the responses that stop before the cap at an ordinary token: 0 where only end tokens stop."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.clipped(synth.flat(0.3, 0.05), 0, 1)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.2, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.003)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.3, at=(0.4,), noise=0.0)})),
)


@rule(
    "ENV043",
    "responses-stop-early",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "ends-unlike-policy",
        "draws-unlike-policy",
        "length-collapse",
        "zero-std-groups",
        "reward-flat",
        "task-too-hard",
        "prompts-shortened",
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
    """Responses stop at a token that is no end token, before the limit of length.

    What it means:
        The last token of these responses is an ordinary one, and there was room for more: something other than the
        policy's end token stopped them.

    Why it matters:
        Answers that hold this token cannot be given, and count as wrong; the policy learns to avoid it.

    Usual causes:
        A stop word that occurs in answers; end tokens of another model; a time limit of the engine; a text that was
        cut before it was encoded again.

    What to try:
        Print some of these responses with their last tokens, and the stop words and end tokens in force.

    When it is harmless:
        Where a stop word is meant and no argument names it.

    References:
        transformers, documentation of GenerationConfig: eos_token_id and stop_strings.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"{value:.0%} of the responses stop before the cap at a token that is no end; it should be 0",
    )
