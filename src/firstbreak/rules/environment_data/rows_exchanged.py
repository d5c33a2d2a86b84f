"""The rule `rows-exchanged`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView

METRIC = "data/rows_changed_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `rows-exchanged`; engineering defaults where no source is named."""

    limit: float = 0.02
    """Share of the rows generated for or scored that are none of those drawn: 0 by construction."""
    rows: int = 2
    """Rows that must show it, among as many as follow."""
    among: int = 8
    """Rows among which they lie: a share of the questions that is exchanged need not show in every batch."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.25, at=0.5, noise=0.0)})),
    fires("in some batches", lambda: GRPO({METRIC: synth.spikes(0.0, 0.25, at=(0.4, 0.42, 0.44), noise=0.0)})),
    healthy("none", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.6, at=(0.4,), noise=0.0)})),
    near_miss("hardly any", lambda: GRPO({METRIC: synth.constant(0.01)})),
)


@rule(
    "ENV115",
    "rows-exchanged",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(METRIC,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "prompts-not-of-data", "answers-not-of-data", "prompts-alike", "prompts-repeat", "prompts-shortened",
        "prompts-lengthened", "scores-not-kept", "reward-saturated-from-start", "answers-of-other-prompts",
        "reward-redefined", "reward-steps-down", "return-collapse", "reward-flat", "zero-std-groups",
        "reward-std-collapse", "truncation-growing", "token-entropy-collapse", "response-collapse", "smooth-decline",
        "environment-moves-at-once", "exploration-moves-at-once", "reward-moves-at-once",
    ),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """Rows are generated for, or scored, that the loader did not draw.

    What it means:
        Prompts or other columns of the rows changed between the loader and the sampler, or between that and the reward
        functions.

    Why it matters:
        The model answers another question than the one that was chosen, or is scored by the answer of another.

    Usual causes:
        A template or cache that writes over rows; a filter that puts other rows in; columns that are shifted against
        each other.

    What to try:
        Print one row where it is drawn, where it is generated for, and where it is scored.

    When it is harmless:
        A trainer that adds to prompts, such as a hint, by intent.

    References:
        None; the rule compares rows with themselves.
    """
    points = view.get(METRIC)
    assert points is not None
    off = np.flatnonzero(points.value >= params.limit)
    several = off[params.rows - 1 :] - off[: off.size - params.rows + 1] < params.among
    if not several.any():
        return None
    first = int(off[int(np.argmax(several))])
    value = median(points.value[off[off >= first]])
    return Detection(
        message=f"{value:.0%} of the rows that are asked or scored are none of those that were drawn",
        onset=view.onset(float(points.step[max(first - 1, 0)]), float(points.step[first])),
        metric=METRIC,
        evidence={"value": value, "limit": params.limit},
    )
