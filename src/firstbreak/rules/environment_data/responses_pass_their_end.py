"""The rule `responses-pass-their-end`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

PAST = "seq/past_end_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `responses-pass-their-end`; engineering defaults."""

    frac: float = 0.1
    """Share of responses that go on; none does where generation stops at the token."""
    most: float = 0.5
    """Share from which it is an error: the usual response is not the one the model gave."""
    rows: int = 3
    """Rows in a row that must show it."""


GRPO = synth.like("GRPO")

CASES = (
    fires("generation waits for another token", lambda: GRPO({PAST: synth.constant(0.9)})),
    fires("since a change of the stop tokens", lambda: GRPO({PAST: synth.jump(0.0, 0.6, at=0.5, noise=0.0)})),
    healthy("generation stops at the token", lambda: GRPO({PAST: synth.constant(0.0)})),
    near_miss("a model that seldom says it", lambda: GRPO({PAST: synth.clipped(synth.flat(0.03, 0.3), 0, 1)})),
    near_miss("one batch", lambda: GRPO({PAST: synth.spikes(0.0, 1.0, at=(0.5,))})),
    near_miss(
        "nothing ever ends, since the model never says so",
        lambda: GRPO({PAST: synth.constant(0.0), "seq/truncated_fraction": synth.constant(0.6)}),
    ),
)


@rule(
    "ENV032",
    "responses-pass-their-end",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    needs=(PAST,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "no-eos-from-start",
        "all-truncated",
        "truncation-growing",
        "truncation-scored-wrong",
        "task-too-hard",
        "reward-flat",
        "reward-redefined",
        "zero-std-groups",
        "response-end-untrained",
        "policy-jumps",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses say that they have ended, and generation goes on.

    What it means:
        The token that the tokenizer calls the end of a text stands inside the responses, with more text after it.

    Why it matters:
        What follows an answer is not the model's choice of where to stop: it runs to the cap, is scored with the
        answer and trained on.

    Usual causes:
        Generation stops at another token than the model learned: an end of the base model for a chat model or the
        other way round, `generation_kwargs` with an `eos_token_id` of their own, a server with a model file of its own.

    What to try:
        Print the stop tokens of generation beside `tokenizer.eos_token_id`, and decode three responses with special
        tokens shown.

    When it is harmless:
        Where several answers are drawn in one text on purpose, or the end is ignored to measure speed.

    References:
        None; where generation stops at the token the share is 0 by construction.
    """
    points = view.get(PAST)
    assert points is not None
    onset = persistent_onset(points.step, points.value >= params.frac, params.rows)
    if onset is None:
        return None
    share = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"{share:.0%} of responses go on after the tokenizer's end token",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"past_end_frac": share},
        severity=Severity.ERROR if share >= params.most else None,
    )
