"""The rule `evaluation-scored-otherwise`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "eval/scored_otherwise_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `evaluation-scored-otherwise`; engineering defaults where no source is named."""

    limit: float = 0.05
    """Share of a fixed set of responses that an evaluation scores otherwise than training does: 0 by construction."""
    rows: int = 1
    """Evaluations that must show it: a scorer that was asked is no sample."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(0.5)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.4, at=0.5, noise=0.0)})),
    healthy("one scorer", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("next to nothing", lambda: GRPO({METRIC: synth.constant(0.02)})),
)


@rule(
    "EVA032",
    "evaluation-scored-otherwise",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.ERROR,
    needs=(METRIC,),
    when=("language",),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "train-eval-gap",
        "heldout-regression",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The evaluation's scorer gives other scores than training's.

    What it means:
        One fixed set of responses was put to the reward functions in training and in the evaluation, and got other
        scores there.

    Why it matters:
        Both curves seem to measure one thing: a gain in one of them is not a gain in the other.

    Usual causes:
        Two copies of a parser; a looser match or other columns in evaluation; a mode that the scorer reads.

    What to try:
        Score the same twenty responses by both, and use one function.

    When it is harmless:
        An evaluation that is stricter on purpose; then log it under another name.

    References:
        autocontext issue 1076.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"the evaluation scores {value:.0%} of a fixed set of responses otherwise than training does",
    )
