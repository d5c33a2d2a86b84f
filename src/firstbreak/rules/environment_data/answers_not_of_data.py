"""The rule `answers-not-of-data`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "data/answer_changed_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `answers-not-of-data`; engineering defaults where no source is named."""

    limit: float = 0.02
    """Share of the prompts that are scored with another reference answer than the data set has: 0 by construction."""
    rows: int = 2
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(0.7)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.5, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.01)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
)


@rule(
    "ENV045",
    "answers-not-of-data",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "answers-of-other-prompts",
        "references-unpaid",
        "reward-redefined",
        "zero-std-groups",
        "reward-flat",
        "advantage-collapse",
        "task-too-hard",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-steps-down",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Prompts are scored with other reference answers than the data set holds for them.

    What it means:
        The rows that the reward functions get were held against the data set: same prompt, another answer.

    Why it matters:
        Right responses are paid as wrong ones, and what the key says instead is learned.

    Usual causes:
        A column that is cut, shifted or joined by place;
        another version of the key.

    What to try:
        Print prompt and answer where the reward function reads them, beside the row of the data set.

    When it is harmless:
        Answers that are normalised on the way, to the same meaning.

    References:
        Northcutt, Athalye and Mueller 2021, arXiv 2103.14749 (wrong labels).
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"{value:.0%} of the prompts are scored with another answer than the data set has for them",
    )
