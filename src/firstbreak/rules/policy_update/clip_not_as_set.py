"""The rule `clip-not-as-set`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

LOW, METRIC = "policy/clip_low_off", "policy/clip_high_off"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `clip-not-as-set`; engineering defaults where no source is named."""

    limit: float = 0.05
    """Width of the clip in force over that of the settings, less 1: 0 by definition."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("all along", lambda: GRPO({METRIC: synth.constant(-0.99)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 4.0, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("near", lambda: GRPO({METRIC: synth.constant(0.001)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.5, at=(0.4,), noise=0.0)})),
)


@rule(
    "POL076",
    "clip-not-as-set",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    any_of=((LOW, METRIC),),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "clip-fraction-high",
        "clip-asymmetry",
        "reward-flat",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "zero-std-groups",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The range of the clip in force is not the one that the settings name.

    What it means:
        The trainer clips ratios at other bounds than its arguments say.

    Why it matters:
        Too tight a clip throws nearly every gradient away once the policy has moved a little; too wide a one holds
        nothing.

    Usual causes:
        A unit (percent for shares); a setting that is read from another place; code that changes the trainer's own
        fields.

    What to try:
        Print the bounds that the loss uses at the first and at the last update on a batch.

    When it is harmless:
        A schedule of the clip that is meant, and is not among the arguments.

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7.
    """
    for metric in (METRIC, LOW):
        points = view.get(metric)
        off = None if points is None else abs(points.value) >= params.limit
        onset = None if points is None or off is None else persistent_onset(points.step, off, params.rows)
        if points is None or off is None or onset is None:
            continue
        value = median(points.value[off & (points.step >= onset[1])])
        return Detection(
            message=f"the clip in force is {1 + value:.3g} times as wide as the settings say; it should be 1 times",
            onset=view.onset(*onset),
            metric=metric,
            evidence={"off": value, "limit": params.limit},
        )
    return None
