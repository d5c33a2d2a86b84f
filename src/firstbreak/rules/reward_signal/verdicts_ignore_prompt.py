"""The rule `verdicts-ignore-prompt`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "reward/verdict_reused_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `verdicts-ignore-prompt`; engineering defaults where no source is named."""

    limit: float = 0.5
    """Share of prompts at which the right answer of another prompt, a different one, earns what it earns there."""
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
    "RWD056",
    "verdicts-ignore-prompt",
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
        "reward-flat",
        "advantage-collapse",
        "references-unpaid",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-steps-down",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The scorer's verdict on an answer does not depend on the prompt that it answers.

    What it means:
        An answer that is right at one prompt was put to another, where it is wrong, and earned the same.

    Why it matters:
        Responses are paid for being an answer to something; what is asked no longer matters.

    Usual causes:
        A cache of verdicts without the prompt in its key; a judge that is not shown the prompt; a check of form only.

    What to try:
        Score one text at two prompts, in both orders, in a fresh process.

    When it is harmless:
        Rewards of form or style, where no function is meant to check the answer.

    References:
        Huang et al. 2025, arXiv 2505.22203 (false positives of verifiers).
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"{value:.0%} of the reference answers earn at another prompt what they earn at their own",
    )
