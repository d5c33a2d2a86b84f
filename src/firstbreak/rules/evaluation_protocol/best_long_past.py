"""The rule `best-long-past`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import HELD_OUT, LEAST, TRAIN, falls
from firstbreak.stats import mad
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `best-long-past`. Engineering defaults where no source is named."""

    share: float = 0.5
    """Position of the best stretch, as a share of the run so far, before which it counts as long past."""
    z: float = 3.0
    """Standard errors by which the recent stretch must lie below it, on top of what the best of many gains by luck."""
    given_up: float = 0.5
    """Share of the score's range that must be gone again for a warning, where training has not fallen."""
    of_best: float = 0.2
    """Share of the best score that must be gone for it."""
    points: int = 12
    """Evaluations needed."""


PPO = synth.like("PPO")
CASES = (
    fires(
        "peaks early and sags",
        lambda: PPO(
            {"reward/eval_return_mean": synth.after(0.3, synth.ramp(400, 250, 0.03), synth.ramp(50, 900, 0.03))}
        ),
    ),
    fires(
        "learned by heart: evaluation gives up what it gained, training stays at its best",
        lambda: synth.like("GRPO", n=30)(
            {
                "reward/eval_mean": synth.after(0.4, synth.flat(0.45, 0.05), synth.ramp(0.3, 0.9, 0.02, until=0.2)),
                "reward/train_mean": synth.ramp(0.3, 1.0, 0.02, until=0.4),
            }
        ),
    ),
    healthy("best is now", lambda: PPO({"reward/eval_return_mean": synth.ramp(25, 420, 0.05)})),
    near_miss("flat and noisy", lambda: PPO({"reward/eval_return_mean": synth.walk(300, 20, rho=0.3)})),
    near_miss("levels off", lambda: PPO({"reward/eval_return_mean": synth.ramp(25, 400, 0.05, until=0.3)})),
)


@rule(
    "EVA009",
    "best-long-past",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.INFO,
    any_of=(HELD_OUT,),
    min_points=12,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The best evaluation lies in the first half of the run, and the latest are clearly below it.

    What it means:
        The smoothed score had its best stretch long ago; what came since is worse beyond noise.

    Why it matters:
        The last checkpoint is not the one to keep, and the steps since were not worth their cost.

    Usual causes:
        Overfitting; forgetting; steps too large late in the run; a reward that parts from the task.

    What to try:
        Keep the best checkpoint by held-out score; ask what changed after it.

    When it is harmless:
        Harder evaluation later on; it is a hint only.

    References:
        The best of k noisy scores is high by about sqrt(2 ln k) standard errors (extreme values of a Gaussian).
    """
    score = view.get(*HELD_OUT)
    assert score is not None
    if len(score) < params.points:
        return None
    size = max(3, len(score) // 10)
    means = np.convolve(score.value, np.ones(size) / size, mode="valid")
    best = int(np.argmax(means))
    noise = mad(np.diff(score.value)) / np.sqrt(2)
    error = max(noise, float(score.value[-size:].std())) * np.sqrt(2 / size)
    fall = float(means[best] - means[-1])
    luck = np.sqrt(2 * np.log(len(means)))
    span = float(score.step[-1] - score.step[0])
    where = float(score.step[best + size // 2] - score.step[0]) / max(span, 1e-300)
    if where > params.share or fall <= (params.z + luck) * error or fall < 0.1 * float(np.ptp(means)):
        return None
    return Detection(
        message=f"best evaluation {means[best]:.4g} was at {where:.0%} of the run; now {means[-1]:.4g}",
        onset=view.onset(score.step[best], score.step[min(best + 2 * size, len(score) - 1)]),
        metric=score.metric,
        evidence={
            "best": float(means[best]),
            "recent": float(means[-1]),
            "best_at": float(score.step[best + size // 2]),
        },
        severity=Severity.WARNING if gave_up(view, score, fall, float(np.ptp(means)), params) else None,
    )


def gave_up(view: RunView, evaluation: Points, fall: float, span: float, params: Params) -> bool:
    """Whether half of what was gained is gone again while what is trained on has not fallen: it is learned by heart."""
    train = view.get(*TRAIN)
    best = float(evaluation.value.max())
    large = fall >= max(params.given_up * span, params.of_best * abs(best))
    return large and train is not None and len(train) >= 2 * LEAST and not falls(train)
