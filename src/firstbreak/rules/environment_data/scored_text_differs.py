"""The rule `scored-text-differs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "data/scored_text_off_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `scored-text-differs`; engineering defaults where no source is named."""

    limit: float = 0.05
    """Share of the responses whose text, as it is scored, is not that of their tokens: 0 by construction."""
    rows: int = 2
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.5, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.02)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
)


@rule(
    "ENV047",
    "scored-text-differs",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-redefined",
        "zero-std-groups",
        "reward-flat",
        "advantage-collapse",
        "task-too-hard",
        "return-collapse",
        "references-unpaid",
        "reward-constant",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-steps-down",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The text that is scored is not the text of the tokens that are trained.

    What it means:
        The tokens of responses, decoded without special tokens, give another text than the reward functions get.

    Why it matters:
        What is paid and what is reinforced are two things.

    Usual causes:
        Special tokens that stay in the text; a text that is cut, stripped or shifted by a row; another tokenizer.

    What to try:
        Print tokens, their text and what the scorer gets for one response in one line.

    When it is harmless:
        A parser that hands only a part of the response to the scorer, by intent.

    References:
        transformers, documentation of PreTrainedTokenizer: decode and skip_special_tokens.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"{value:.0%} of the responses are scored as another text than their tokens say",
    )
