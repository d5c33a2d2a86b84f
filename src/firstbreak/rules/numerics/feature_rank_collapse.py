"""The rule `feature-rank-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median, persistent_onset
from firstbreak.stats.level import level, opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `feature-rank-collapse`: engineering defaults, except where a source is named."""

    floor_frac: float = 0.25
    """Effective rank over its opening. Engineering default."""
    z: float = -4.0
    """z of the slope."""


PPO = synth.like("PPO")
FALLEN = synth.after(0.5, synth.flat(0.05, 0.1), synth.ramp(0.1, 0.6, 0.03, until=0.5))

REWARDS = ("reward/episode_return_mean", "reward/raw_episode_return", "reward/episode_return", "reward/train_mean")

CASES = (
    fires(
        "rank falls, return too",
        lambda: PPO({"net/feature_rank": synth.geometric(60, 4), "reward/episode_return_mean": FALLEN}),
    ),
    healthy("rank steady", lambda: PPO({"net/feature_rank": synth.flat(60, 0.05)})),
    near_miss("rank halves", lambda: PPO({"net/feature_rank": synth.geometric(60, 30)})),
)


@rule(
    "NUM009",
    "feature-rank-collapse",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.INFO,
    needs=("net/feature_rank",),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "clip-fraction-high"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The effective rank of the features has collapsed.

    What it means:
        The penultimate layer spans a quarter or less of the directions it spanned at the start.

    Why it matters:
        Different states look alike to the heads; clipping no longer bounds the update, and the return may break.

    Usual causes:
        Many epochs per batch; moving targets; growing pre-activations.

    What to try:
        Fewer epochs; layer normalisation; fit random targets as a test of capacity.

    When it is harmless:
        A solved task may need few directions: then the return is at its best.

    References:
        Kumar et al. 2021, arXiv 2010.14498. Moalla et al. 2024, arXiv 2405.00662.
    """
    rank, reward = view.get("net/feature_rank"), view.get(*REWARDS)
    assert rank is not None
    start, recent = opening(rank.value), median(rank.value[-8:])
    if start <= 0 or recent > params.floor_frac * start or linear_trend(rank.step, rank.value).z > params.z:
        return None
    stand = level(reward.value) if reward is not None and len(reward) >= 16 else None
    poor = stand is not None and not stand.rising and stand.shortfall > 0.25
    over = persistent_onset(rank.step, rank.value <= params.floor_frac * start, 3)
    return Detection(
        message=f"Feature rank fell from {start:.3g} to {recent:.3g}",
        onset=view.onset(*(over or (float(rank.step[0]), float(rank.step[-1])))),
        metric=rank.metric,
        evidence={"opening": start, "recent": recent},
        severity=Severity.WARNING if poor else None,
    )
