"""The rule `transitions-unpredictable`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, quantile
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `transitions-unpredictable`."""

    share: float = 0.1
    """Share of the next observation that must be foreseen in the middle row. Engineering default, from random play: of
    19 tasks (classic control, Box2D, MuJoCo, text, ours) the least has 0.50, observations drawn afresh have 0."""
    most: float = 0.25
    """The same in the upper quartile of rows. Engineering default."""
    rows: int = 15
    """Rows, each of 64 steps or more. Engineering default."""
    steps: float = 3.0
    """Episodes must be longer: the contexts of a bandit follow from nothing, by definition."""


PPO = synth.like("PPO")
SHARE, LENGTH = "env/predicted_frac", "episode/length_mean"

CASES = (
    fires(
        "the next observation follows from nothing", lambda: PPO({SHARE: synth.clipped(synth.flat(0.01, 2.0), -1, 1)})
    ),
    healthy("most of it is foreseen", lambda: PPO({SHARE: synth.clipped(synth.flat(0.9, 0.1), -1, 1)})),
    near_miss("contacts spoil some rows", lambda: PPO({SHARE: synth.clipped(synth.walk(0.45, 0.3), -1, 1)})),
    near_miss(
        "contexts of a bandit",
        lambda: PPO({SHARE: synth.clipped(synth.flat(0.01, 2.0), -1, 1), LENGTH: synth.constant(1.0)}),
    ),
)


@rule(
    "ENV024",
    "transitions-unpredictable",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    needs=(SHARE,),
    min_points=15,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat", "critic-not-learning", "explained-variance-negative", "entropy-stuck-high"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The next observation does not follow from observation and action at all.

    What it means:
        A linear model of the steps before foresees next to nothing of the next observation, from the start.

    Why it matters:
        Where nothing follows, no action has consequences that could be learned. In real tasks a linear model already
        foresees half and more: positions move by velocities.

    Usual causes:
        Transitions that are mixed up between copies of the environment; a buffer that pairs the wrong steps;
        observations of another episode; an array that is overwritten before it is read; actions that never arrive.

    What to try:
        Replay one saved episode with its actions and compare step by step; `firstbreak preflight env ENV`.

    When it is harmless:
        In tasks whose next observation is drawn afresh: a bandit with contexts, cards.

    References:
        Ljung 1999, "System Identification", section 16 (model validation).
    """
    share, length = view.get(SHARE), view.get(LENGTH)
    assert share is not None
    if len(share) < params.rows or (length is not None and len(length) and median(length.value) <= params.steps):
        return None
    upper = quantile(share.value, 0.75)
    if median(share.value) >= params.share or upper >= params.most:
        return None
    return Detection(
        message=f"{max(median(share.value), 0):.1%} of the next observation follows from observation and action",
        onset=view.onset(float(share.source.step[0])),
        metric=SHARE,
        evidence={"predicted_frac": median(share.value), "upper_quartile_frac": upper},
    )
