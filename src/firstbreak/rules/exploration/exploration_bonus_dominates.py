"""The rule `exploration-bonus-dominates`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `exploration-bonus-dominates`: engineering defaults, except where a source is named."""

    factor: float = 10.0
    """Size of the bonus over the size of the task's reward. Engineering default."""
    points: int = 30
    """Logged points, so that the start, where only the bonus pays, is over."""


PPO = synth.like("PPO")

CASES = (
    fires(
        "bonus is all there is",
        lambda: PPO({"reward/intrinsic_mean": synth.flat(5.0), "reward/extrinsic_mean": synth.flat(0.1, 0.2)}),
    ),
    healthy(
        "bonus fades",
        lambda: PPO(
            {"reward/intrinsic_mean": synth.geometric(0.5, 0.01), "reward/extrinsic_mean": synth.ramp(0.1, 1.0)}
        ),
    ),
    near_miss(
        "bonus large, task reward rising",
        lambda: PPO({"reward/intrinsic_mean": synth.flat(5.0), "reward/extrinsic_mean": synth.ramp(0.02, 0.3)}),
    ),
)


@rule(
    "EXP017",
    "exploration-bonus-dominates",
    link=Link.EXPLORATION,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=("reward/intrinsic_mean", "reward/extrinsic_mean"),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "entropy-stuck-high"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The exploration bonus outweighs the task's reward and does not fade.

    What it means:
        The mean bonus has been ten times the mean task reward or more, and the task reward does not rise.

    Why it matters:
        The policy maximises novelty, not the task.

    Usual causes:
        Bonus coefficient too large; a predictor that never learns (noisy observations).

    What to try:
        Cut the bonus coefficient tenfold for a short run; watch whether the predictor's loss falls at all.

    When it is harmless:
        At the start of a sparse task, before the first success.

    References:
        Burda et al. 2019, arXiv 1810.12894 (random network distillation).
    """
    bonus, task = view.get("reward/intrinsic_mean"), view.get("reward/extrinsic_mean")
    assert bonus is not None
    assert task is not None
    if min(len(bonus), len(task)) < params.points:
        return Skip(f"needs {params.points} points of both rewards", ("more points",))
    half_bonus, half_task = np.abs(bonus.value[-(len(bonus) // 2) :]), np.abs(task.value[-(len(task) // 2) :])
    ratio = median(half_bonus) / max(median(half_task), 1e-12 * median(half_bonus), 1e-300)
    rising = linear_trend(task.step, task.value).z > 2
    if median(half_bonus) <= 0 or ratio < params.factor or rising:
        return None
    return Detection(
        message=(
            f"Exploration bonus {median(half_bonus):.3g} against a task reward of {median(half_task):.3g} per step"
        ),
        onset=view.onset(float(bonus.step[0]), float(bonus.step[len(bonus) // 2])),
        metric=bonus.metric,
        evidence={"bonus": median(half_bonus), "task_reward": median(half_task)},
    )
