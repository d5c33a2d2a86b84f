"""The rule `prompts-not-of-data`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "data/prompt_foreign_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompts-not-of-data`; engineering defaults where no source is named."""

    limit: float = 0.02
    """Share of the prompts asked that the data set does not hold: 0 by construction."""
    rows: int = 2
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.5, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.01)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
)


@rule(
    "ENV046",
    "prompts-not-of-data",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    needs=(METRIC,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-saturated-from-start",
        "zero-std-groups",
        "reward-redefined",
        "task-too-hard",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Prompts are asked that the trainer's data set does not hold.

    What it means:
        The rows that are generated for and scored were held against the data set: these prompts are not in it.

    Why it matters:
        What is trained on is not what was chosen: easier, harder or other questions.

    Usual causes:
        A loader that reads another file; a pool that replaces rows; prompts that are changed on the way.

    What to try:
        Print the prompts of one batch where they are generated for, and look them up in the data.

    When it is harmless:
        A curriculum or a generator that makes prompts by intent.

    References:
        Yu et al. 2025, arXiv 2503.14476, section 3.2 (which prompts are trained on decides what is learned).
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"{value:.0%} of the prompts asked are not in the data set",
    )
