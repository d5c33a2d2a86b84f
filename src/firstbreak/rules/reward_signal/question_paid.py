"""The rule `question-paid`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "reward/question_paid_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `question-paid`; engineering defaults where no source is named."""

    limit: float = 0.9
    """Share of the prompts at which the question itself earns more than the reference answer and than another
    question."""
    rows: int = 1
    """Looks that must show it: a scorer that was asked is no sample."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 1.0, at=0.5, noise=0.0)})),
    healthy("an answer is asked for", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("at some prompts", lambda: GRPO({METRIC: synth.constant(0.4)})),
)


@rule(
    "RWD091",
    "question-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(METRIC,),
    when=("language",),
    min_points=1,
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
        "scorer-drift",
        "task-too-hard",
        "reference-paid-less",
        "references-unpaid",
        "answers-of-other-prompts",
        "right-answers-repriced",
        "reward-sum-off",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The scorer pays the question for an answer.

    What it means:
        The text of each prompt was put to the reward functions as a response to itself. It earns more than the
        reference answer, which earns no more than another prompt's.

    Why it matters:
        The policy learns to repeat what it is asked, and no right answer is ever paid.

    Usual causes:
        Columns or arguments of the reward function that were mixed up: the question is taken for the answer.

    What to try:
        Call the reward function with one row by hand; name its arguments.

    When it is harmless:
        A task whose right answer is the question: then the reference answer is paid as well, and this is not judged.

    References:
        TRL issue 4563.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"at {value:.0%} of the prompts the question itself is paid, and the reference answer is not",
    )
