"""The rule `sampling-altered`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "sample/unscored_settings"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `sampling-altered`; engineering defaults where no source is named."""

    limit: float = 1.0
    """Settings of generation in force that change what is drawn and that the arguments do not name: 0 by definition."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 1.0, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 1.0, at=(0.4,), noise=0.0)})),
)


@rule(
    "EXP038",
    "sampling-altered",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "draws-unlike-policy",
        "ends-unlike-policy",
        "truncation-growing",
        "all-truncated",
        "zero-std-groups",
        "return-collapse",
        "reward-redefined",
        "responses-stop-early",
        "draws-too-alike",
        "reward-flat",
        "task-too-hard",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-steps-down",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses are drawn with settings that nobody gave and that scores do not know.

    What it means:
        Generation has settings in force beside temperature and mass (a penalty on repetition, a least length, forbidden
        tokens) that the trainer's arguments do not name. The loss scores responses as if they were not.

    Why it matters:
        The policy that samples is not the one that is trained: the gradient is biased.

    Usual causes:
        A `generation_config.json` that came with the checkpoint; settings of an evaluation that were not put back.

    What to try:
        Print the generation settings in force beside the arguments; draw without them while training.

    When it is harmless:
        A penalty that is meant, where arguments say it elsewhere.

    References:
        Reported: huggingface/trl issue 6789. Keskar et al. 2019, arXiv 1909.05858, section 4.1 (the penalty).
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: (
            f"{value:.0f} settings of generation that nobody gave change what is drawn, and not how it is scored"
        ),
        either_sign=True,
    )
