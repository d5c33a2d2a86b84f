"""The rule `no-answer-paid`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "reward/no_answer_paid_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `no-answer-paid`; engineering defaults where no source is named."""

    limit: float = 0.5
    """Share of the prompts at which a response without any answer (nothing, or a mark) earns more than half of what the
    right answer earns above a wrong one."""
    rows: int = 1
    """Looks that must show it: a scorer that was asked is no sample."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 1.0, at=0.5, noise=0.0)})),
    healthy("silence earns nothing", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("at a prompt in ten", lambda: GRPO({METRIC: synth.constant(0.1)})),
)


@rule(
    "RWD090",
    "no-answer-paid",
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
        "length-collapse",
        "reward-saturated-from-start",
        "empty-responses",
        "reference-paid-less",
        "right-answers-repriced",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The scorer pays for responses that hold no answer.

    What it means:
        Nothing at all, or a single mark, was put to the reward functions as a response, and earned what a right answer
        earns.

    Why it matters:
        The shortest way to reward is to say nothing; the policy finds it sooner or later.

    Usual causes:
        A parser that fails and a scorer that then says 1; two empty strings that compare equal; an exception that
        counts as passed.

    What to try:
        Let whatever cannot be parsed score as wrong, and count it; test the scorer with an empty response.

    When it is harmless:
        Where no answer is the right one, which reference answers of letters or digits rule out.

    References:
        open-r1 issue 55; verl issue 6793.
    """
    return lasting(
        view, METRIC, params, lambda value: f"at {value:.0%} of the prompts a response without any answer is paid"
    )
