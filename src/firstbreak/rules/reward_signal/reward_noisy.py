"""The rule `reward-noisy`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import from_start
from firstbreak.stats import linear_trend, mad, median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-noisy`. Engineering defaults where no source is named."""

    share: float = 0.5
    """Noise from row to row over the larger of the level and the run's whole trend."""
    rows: int = 30
    """Rows that an estimate of noise needs."""


GRPO = synth.like("GRPO")
CASES = (
    fires("rows differ by more than the run gains", lambda: GRPO({"reward/train_mean": synth.walk(0.3, 0.4, rho=0.0)})),
    healthy("clear rise", lambda: GRPO({})),
    near_miss("converged and quiet", lambda: GRPO({"reward/train_mean": synth.flat(0.9, 0.05)})),
    near_miss("slow swings rather than noise", lambda: GRPO({"reward/train_mean": synth.walk(0.5, 0.2, rho=0.95)})),
)


@rule(
    "RWD015",
    "reward-noisy",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    any_of=(("reward/train_mean", "reward/rollout_mean"),),
    when=("language",),
    min_points=30,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The mean reward differs from row to row by more than the run gains.

    What it means:
        The typical step between neighbouring rows is larger than half of the level and of the trend.

    Why it matters:
        Updates follow the batch rather than the task, and small gains cannot be told from luck.

    Usual causes:
        Batches of few prompts; prompts of very different difficulty; a scorer that is not deterministic.

    What to try:
        Double the number of prompts per update and compare the noise (it must fall by about 1.4).

    When it is harmless:
        Small experiments; it is a hint only.

    References:
        AReaL, "Diagnosing RL performance" (task_reward fluctuates: larger batch). McCandlish et al. 2018, arXiv
        1812.06162.
    """
    reward = view.get("reward/train_mean", "reward/rollout_mean")
    assert reward is not None
    if len(reward) < params.rows:
        return None
    noise = mad(np.diff(reward.value)) / np.sqrt(2)
    line = linear_trend(reward.step, reward.value)
    size = max(abs(median(reward.value)), abs(line.change))
    if noise <= 0 or noise < params.share * size:
        return None
    return Detection(
        message=f"row-to-row noise {noise:.3g}, level {median(reward.value):.3g}, trend {line.change:.2g}",
        onset=from_start(view, reward),
        metric=reward.metric,
        evidence={"noise": float(noise), "level": median(reward.value), "trend": line.change, "rows": len(reward)},
    )
