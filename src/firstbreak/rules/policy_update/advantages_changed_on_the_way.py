"""The rule `advantages-changed-on-the-way`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "advantage/altered_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantages-changed-on-the-way`; engineering defaults where no source is named."""

    limit: float = 0.05
    """Share of the rows of the loss whose advantage is not the one that was computed for them: 0 by construction."""
    rows: int = 2
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.4, at=0.5, noise=0.0)})),
    healthy("none", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
    near_miss("hardly any", lambda: GRPO({METRIC: synth.constant(0.02)})),
)


@rule(
    "POL135",
    "advantages-changed-on-the-way",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "advantage-sign-wrong", "advantages-not-by-reward", "advantage-collapse", "policy-jumps", "kl-overshoot",
        "reward-redefined", "reward-steps-down", "return-collapse", "reward-flat", "zero-std-groups",
        "reward-std-collapse", "truncation-growing", "token-entropy-collapse", "response-collapse", "smooth-decline",
        "environment-moves-at-once", "exploration-moves-at-once", "reward-moves-at-once",
    ),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """Advantages are not those that were computed from the rewards when the loss gets them.

    What it means:
        Between the batch as it was scored and the loss, advantages of responses changed.

    Why it matters:
        The loss follows them, whatever was paid: turned round, it makes worse responses likelier.

    Usual causes:
        A sign, scale or shift that is put in between; advantages that are handed to other rows; a second normalisation.

    What to try:
        Print rewards and advantages of one group where they are computed, and where the loss is made.

    When it is harmless:
        Advantages that are shaped after scoring by intent, all along.

    References:
        Shao et al. 2024, arXiv 2402.03300, section 4.1.2 (the advantage of a group).
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"the advantages of {value:.0%} of the rows of the loss are not those computed for them",
    )
