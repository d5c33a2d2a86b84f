"""The rule `evaluation-asks-trained-prompts`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "eval/prompts_trained_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `evaluation-asks-trained-prompts`; engineering defaults where no source is named."""

    limit: float = 0.1
    """Share of the prompts that an evaluation asks that are in the training set. Small sets of made-up problems
    share a few."""
    rows: int = 1
    """Evaluations that must show it: what was asked is no sample."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.5, at=0.5, noise=0.0)})),
    healthy("prompts of its own", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("a few in common", lambda: GRPO({METRIC: synth.constant(0.03)})),
)


@rule(
    "EVA030",
    "evaluation-asks-trained-prompts",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.WARNING,
    needs=(METRIC,),
    when=("language",),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "heldout-regression",
        "train-eval-gap",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The evaluation asks prompts that are trained on.

    What it means:
        Prompts of the evaluation are in the training set, text for text.

    Why it matters:
        Its score says how well the training set was learned, and nothing of other problems.

    Usual causes:
        A split that was made after shuffling or repeating; the training set given as evaluation set; a data set
        with duplicates.

    What to try:
        Split by prompt, and compare hashes of both sides before the run.

    When it is harmless:
        An evaluation that is meant to follow the fit on training prompts, beside another one.

    References:
        Kapoor and Narayanan 2023, doi:10.1016/j.patter.2023.100804 (leakage between splits).
    """
    return lasting(view, METRIC, params, lambda value: f"{value:.0%} of the prompts of the evaluation are trained on")
