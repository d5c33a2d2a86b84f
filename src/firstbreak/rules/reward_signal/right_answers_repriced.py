"""The rule `right-answers-repriced`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal.scorer_drift import of_one_set
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

STANDING, SET = "reward/standing_mean", "reward/golden_set"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `right-answers-repriced`; engineering defaults where no source is named."""

    share: float = 0.02
    """Change of the mean score of the same right answers, over its size, that no rounding explains."""
    points: int = 3
    """Newest looks in a row away from the first."""
    least: int = 5
    """Looks at one set."""
    z: float = 6.0
    """Steps of the usual scatter that the change must exceed, for judges that sample."""


CASES = (
    fires("pays more at each update", lambda: GRPO({STANDING: synth.geometric(1.0, 4.0, 0.0)})),
    fires("pays nothing from half-way on", lambda: GRPO({STANDING: synth.jump(1.0, 0.0, at=0.5, noise=0.0)})),
    healthy("the same to the last digit", lambda: GRPO({STANDING: synth.constant(1.1)})),
    near_miss("a sampling judge scatters", lambda: GRPO({STANDING: synth.flat(0.62, 0.05)})),
    near_miss("one bad look", lambda: GRPO({STANDING: synth.spikes(0.62, 0.1, at=(0.5,), noise=0.005)})),
    near_miss(
        "another set since a resume",
        lambda: GRPO(
            {STANDING: synth.jump(0.62, 0.48, at=0.5, noise=0.0), SET: synth.jump(17.0, 23.0, at=0.5, noise=0.0)}
        ),
    ),
)


@rule(
    "RWD057",
    "right-answers-repriced",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(STANDING,),
    min_points=5,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "scorer-drift",
        "reward-redefined",
        "proxy-divergence",
        "return-collapse",
        "reward-scale-jumps",
        "reward-outliers",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-steps-down",
        "zero-std-groups",
        "reward-flat",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The same right answers get other scores than before.

    What it means:
        Reference answers of the first prompts were scored again and again: as right as before, they are
        paid otherwise.

    Why it matters:
        Rewards before and after are of different quantities: a curve that rises may be the scorer's, not the policy's.

    Usual causes:
        A scale or normaliser that moves; another judge behind the same address; a bonus that grows with the update.

    What to try:
        Pin the scorer's version and statistics; score old and new outputs with both.

    When it is harmless:
        A schedule of the reward that is meant.

    References:
        Gao, Schulman and Hilton 2023, arXiv 2210.10760 (the proxy is fixed while it is optimised).
    """
    points = of_one_set(view, STANDING)
    if len(points) < params.least:
        return None
    start = median(points.value[:2])
    steps = np.abs(np.diff(points.value))
    scatter = float(np.median(np.abs(np.diff(points.value, 2)))) if len(points) > params.least else float(steps.max())
    limit = max(params.share * abs(start), params.z * scatter, 1e-6)
    off = np.abs(points.value - start) > limit
    if not bool(off[-params.points :].all()):
        return None
    onset = persistent_onset(points.step, off, params.points)
    assert onset is not None
    recent = median(points.value[-params.points :])
    return Detection(
        message=f"the mean score of the same right answers went from {start:.4g} to {recent:.4g}; it must not move",
        onset=view.onset(*onset),
        metric=STANDING,
        evidence={"opening": start, "recent": recent},
    )
