"""The rule `groups-replayed`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "data/group_repeat_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `groups-replayed`; engineering defaults where no source is named."""

    limit: float = 0.2
    """Share of the groups with three different responses and more that are groups of an earlier batch, word for word
    and in the same order."""
    rows: int = 3
    """Batches on end that must show it: of short responses of a sure policy, one group in forty agrees by chance."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(0.5)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.5, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("next to nothing", lambda: GRPO({METRIC: synth.constant(0.05)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.5, at=(0.4,), noise=0.0)})),
)


@rule(
    "DAT040",
    "groups-replayed",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    needs=(METRIC,),
    when=("language",),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "draws-too-alike",
        "draws-unlike-policy",
        "ends-unlike-policy",
        "batch-repeated",
        "prompts-repeat",
        "policy-frozen",
        "reward-flat",
        "logprob-mismatch",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Groups of responses from earlier batches come again, taken as new.

    What it means:
        Whole groups, prompt and all responses in their order, are in the batch that were in one before.

    Why it matters:
        What was drawn by an older policy is trained as if it were of now: the ratio that would weigh it is taken for 1.

    Usual causes:
        A replay buffer left on; a queue that is not emptied; a cache of responses by prompt; a batch that is filled up
        with kept groups.

    What to try:
        Stamp groups with the update that drew them; weigh old ones by their own log-probabilities, or leave them out.

    When it is harmless:
        A method with a replay buffer that keeps the old log-probabilities, such as TRL's experimental one.

    References:
        TRL documentation, `GRPOWithReplayBufferTrainer`.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"{value:.0%} of the groups are groups of earlier batches, word for word, taken as new",
    )
