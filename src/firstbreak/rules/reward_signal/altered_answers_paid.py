"""The rule `altered-answers-paid`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "reward/altered_reference_paid_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `altered-answers-paid`; engineering defaults where no source is named."""

    limit: float = 0.5
    """Share of prompts at which a reference answer that was turned round, doubled or begun with another character, so
    that it is another answer, is paid in full."""
    rows: int = 2
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.9, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.clipped(synth.flat(0.2, 0.1), 0, 0.45)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
)


@rule(
    "RWD055",
    "altered-answers-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-redefined",
        "scorer-drift",
        "false-success-rising",
        "zero-std-groups",
        "reward-saturated-from-start",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-steps-down",
        "reward-flat",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The scorer pays reference answers in full that were altered so that they are wrong.

    What it means:
        Turned round, doubled or with another first character, a reference answer of one word
        is another answer. It is paid as the right one.

    Why it matters:
        What is nearly right or only looks so is paid; the policy learns that, and the log shows a reward that rises.

    Usual causes:
        A comparison of sets, sorted characters or lengths; a match anywhere in the text; a judge that is too kind.

    What to try:
        Put altered answers to the scorer by hand; `firstbreak audit verifier` does it.

    When it is harmless:
        Where the order of characters says nothing by the task, such as a choice of several.

    References:
        Zhao et al. 2025, arXiv 2507.08794; Huang et al. 2025, arXiv 2505.22203.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"at {value:.0%} of the prompts an altered reference answer is paid like the right one",
    )
