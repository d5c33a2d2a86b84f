"""The rule `live-groups-dropped`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "advantage/groups_dropped_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `live-groups-dropped`; engineering defaults where no source is named."""

    limit: float = 0.99
    """Share of the groups whose rewards differ that got no advantage at all."""
    rows: int = 4
    """Batches on end that must show it; a filter may drop the few live groups of a batch."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 1.0, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("next to nothing", lambda: GRPO({METRIC: synth.constant(0.6)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 1.0, at=(0.4,), noise=0.0)})),
)


@rule(
    "POL116",
    "live-groups-dropped",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    needs=(METRIC,),
    when=("language",),
    min_points=4,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "zero-std-groups",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "advantage-collapse",
        "smooth-decline",
        "grad-norm-zero",
        "policy-frozen",
        "metrics-frozen",
        "weights-hardly-move",
        "surrogate-at-rest",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """All groups whose rewards differ are left out of the update.

    What it means:
        Every group with a spread of rewards has advantages of exactly 0; what is trained has no signal.

    Why it matters:
        Nothing can be learned: only groups without any difference are kept.

    Usual causes:
        A filter of groups with its condition the wrong way round; advantages masked by the wrong flag.

    What to try:
        Print reward spread and advantages of each group of one batch, before and after the filter.

    When it is harmless:
        Never known to be.

    References:
        Yu et al. 2025, arXiv 2503.14476, section 3.2 (groups without spread are the ones to drop).
    """
    return lasting(
        view, METRIC, params, lambda value: f"{value:.0%} of the groups with different rewards get no advantage at all"
    )
