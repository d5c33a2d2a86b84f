"""The check `reward-leaves-metric`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ....stats import compare, linear_trend
from ..gate import too_few
from ..sample import Array, RewardSample
from ..stretches import LEAST_BINS, stretches

DROP = 0.2
"""Fall from its best stretch, as a share of the metric's range over training: levelling off does not reach it."""
SURE = 4.0
"""Standard errors of the fall and of the rise (autocorrelation counted)."""


@check(
    "PRW013",
    "reward-leaves-metric",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Stop where they part; read the best rewarded samples from after that point; then redesign the reward.",
)
def look(sample: RewardSample) -> Answer:
    """Over training the reward goes on rising while the task metric falls.

    What is measured:
        Means of reward and metric in up to 40 stretches of training. Fires when the metric falls from its best stretch
        by a fifth of its range or more, the fall or the slope after it exceeds 4 standard errors, and the reward rises
        all the while.

    Why it hurts:
        This is reward hacking: the policy has found what the reward pays for beside the task.

    Usual causes:
        A proxy that is over-optimised; a loophole; a length or format bonus.

    What to try:
        Go back to the last checkpoint before they part. Read the best rewarded samples blind.

    When it is harmless:
        When the task became harder in the meantime (a curriculum), so that the metric is not comparable.

    References:
        Gao, Schulman & Hilton 2022, arXiv 2210.10760; Amodei et al. 2016, arXiv 1606.06565.
    """
    if sample.update is None or not sample.judges:
        return Skip("no training step with a task metric beside the reward")
    skip = too_few(sample)
    if skip is not None:
        return skip
    for judge in sample.judges:
        kept = np.isfinite(judge.values) & np.isfinite(sample.update)
        if np.unique(sample.update[kept]).size < LEAST_BINS:
            return Skip(f"fewer than {LEAST_BINS} training steps", ("more training steps",))
        step, reward, metric = stretches(sample.update[kept], sample.rewards[kept], judge.values[kept])
        found = _parting(step, reward, metric)
        if found is None:
            continue
        at, fall, z = found
        way = "rises" if judge.flipped else "falls"
        return Symptom(
            f"reward rises while {judge.said} {way} by {100 * fall:.0f} % of its range, from step {step[at]:.4g} on",
            "reward",
            {"fall_frac": fall, "z": z, "judge": judge.name, "from_step": float(step[at])},
            at=Onset(float(step[max(at - 2, 0)]), float(step[min(at + 2, step.size - 1)]), "updates"),
        )
    return None


def _parting(step: Array, reward: Array, metric: Array) -> tuple[int, float, float] | None:
    smooth = np.convolve(np.pad(metric, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    best = int(np.argmax(smooth))
    if step.size - best < 8:
        return None
    around = metric[max(0, best - 4) : best + 4]
    ended = compare(around if around.size >= 8 else metric[best : best + 8], metric[-8:])
    reach = float(smooth.max() - smooth.min())
    fall = float(smooth[best] - smooth[-1]) / reach if reach > 0 else 0.0
    rising = linear_trend(step[best:], reward[best:])
    falling = linear_trend(step[best + 2 :], metric[best + 2 :])  # without the points that made it the best
    z = min(float(ended.z), falling.z)
    if fall < DROP or z > -SURE or rising.z < SURE:
        return None
    return best, fall, z
