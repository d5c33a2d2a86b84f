"""The rule `prompt-settings-changed`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "data/settings_changed"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompt-settings-changed`; engineering defaults where no source is named."""

    limit: float = 1.0
    """Settings in force that moved and then stood still: 0 unless somebody moves them."""
    rows: int = 2
    """Rows in a row that must show it."""


CASES = (
    fires("one moved half-way", lambda: GRPO({METRIC: synth.jump(0.0, 1.0, at=0.5, noise=0.0)})),
    fires("two moved", lambda: GRPO({METRIC: synth.jump(0.0, 2.0, at=0.5, noise=0.0)})),
    healthy("as at the start", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("for one row", lambda: GRPO({METRIC: synth.spikes(0.0, 1.0, at=(0.4,), noise=0.0)})),
)


@rule(
    "ENV116",
    "prompt-settings-changed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    needs=(METRIC,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "response-cap-fell", "template-changed", "all-truncated", "prompts-misplaced", "responses-pass-their-end",
        "padding-counted", "prompts-shortened", "length-collapse", "reward-redefined", "reward-steps-down",
        "return-collapse", "reward-flat", "zero-std-groups", "reward-std-collapse", "truncation-growing",
        "token-entropy-collapse", "response-collapse", "smooth-decline", "environment-moves-at-once",
        "exploration-moves-at-once", "reward-moves-at-once",
    ),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """Settings of prompts and lengths (template, tokenizer, caps) changed while the run went.

    What it means:
        Held against those in force at the first update. A setting that goes on moving is taken for a schedule and not
        counted.

    Why it matters:
        Prompts become other tokens, or responses end elsewhere, from one update to the next.

    Usual causes:
        Code that shares the tokenizer or the generation settings; a cap or template of an evaluation that was not put
        back.

    What to try:
        Compare the settings in force, in the trainer itself, with its arguments at that update.

    When it is harmless:
        A stage of training that is meant to be another one: begin a new run for it, so that the two can be told apart.

    References:
        None; the rule compares settings with themselves.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"settings of prompts and lengths in force that are not those of the first update: {value:.0f}",
    )
