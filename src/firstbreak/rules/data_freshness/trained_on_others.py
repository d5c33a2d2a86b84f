"""The rule `trained-on-others`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "data/trained_unlike_drawn_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `trained-on-others`; engineering defaults where no source is named."""

    limit: float = 0.02
    """Share of the rows of the loss that are none of the responses drawn last: 0 by construction."""
    rows: int = 2
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.9, at=0.5, noise=0.0)})),
    healthy("none", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
    near_miss("hardly any", lambda: GRPO({METRIC: synth.constant(0.01)})),
)


@rule(
    "DAT075",
    "trained-on-others",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "groups-replayed", "batch-repeated", "advantages-changed-on-the-way", "ratio-off-at-first-minibatch",
        "scores-not-the-models", "advantages-not-by-reward", "reward-redefined", "reward-steps-down", "return-collapse",
        "reward-flat", "zero-std-groups", "reward-std-collapse", "truncation-growing", "token-entropy-collapse",
        "response-collapse", "smooth-decline", "environment-moves-at-once", "exploration-moves-at-once",
        "reward-moves-at-once",
    ),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """The loss is made of other responses than those that were just drawn and scored.

    What it means:
        Rows of the loss, as token ids, are not among the responses that were generated last.

    Why it matters:
        What the policy does now is drawn, scored and thrown away; the gradient is of something older, or of nothing it
        said.

    Usual causes:
        A queue or buffer that hands out an old batch; a cache of generated batches with one key; responses that are cut
        or written anew after scoring.

    What to try:
        Hash the tokens of a batch where it is generated and where its loss is made.

    When it is harmless:
        A replay of older responses by intent, weighted by the log-probabilities that they were drawn with.

    References:
        Noukhovitch et al. 2024, arXiv 2410.18252 (what off-policy responses cost).
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"{value:.0%} of the rows of the loss are none of the responses that were drawn last",
    )
