"""The rule `reward-outliers`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, quantile
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-outliers`. Engineering defaults where no source is named."""

    widths: float = 10.0
    """Distance from the median in widths of the central 90 % of the values. Even a t distribution with 3 degrees of
    freedom stays within 5 widths in thousands of draws."""
    rows: int = 30
    """Points that the central range needs."""
    far: float = 2.0
    """Distance from the median over the usual size of the values: what differs by less than that makes no target,
    advantage or gradient by itself, as a 0 among costs of -1 does not."""
    one_size: float = 0.25
    """Relative range of the outliers up to which they are an event that pays about the same each time, a success of a
    sparse task, which is worth a hint: landings with noise, or less the time they took, lay within 0.1 (tenth draw of
    healthy trainings). What breaks, a division by next to nothing, gives other numbers each time."""
    repeated: int = 3
    """Isolated outliers from which it is a pattern (warning) rather than an incident (hint)."""


PPO, GRPO = synth.like("PPO"), synth.like("GRPO")
SIDES = {"reward/step_max": 1, "reward/train_max": 1, "reward/train_min": -1}
"""Which way the extreme of a batch tells of a single reward: a least one that is high says that all were."""
CASES = (
    fires(
        "single rewards a thousand times too large",
        lambda: PPO({"reward/step_max": synth.spikes(1.0, 1000.0, at=(0.4, 0.55, 0.7), noise=0.1)}),
    ),
    fires("one incident", lambda: PPO({"reward/episode_return_mean": synth.spikes(100, -9e4, at=(0.6,), noise=0.05)})),
    healthy("return rises", lambda: PPO({})),
    near_miss(
        "the worst of a batch is now and then not quite as bad",
        lambda: GRPO({"reward/train_min": synth.spikes(0.003, 0.14, at=(0.5, 0.6, 0.75, 0.9), noise=0.5)}),
    ),
    near_miss(
        "sudden breakthrough that lasts",
        lambda: PPO({"reward/episode_return_mean": synth.jump(10, 400, at=0.5, noise=0.05)}),
    ),
    near_miss(
        "costs of -1 a step, and 0 in the few rows with a success",
        lambda: PPO({"reward/step_max": synth.clipped(synth.spikes(-1, 0, at=(0.6, 0.7, 0.8), noise=0.03), -1, 0)}),
    ),
    near_miss(
        "rare successes of a sparse task",
        lambda: PPO({"reward/episode_return_mean": synth.spikes(0.0, 1.0, at=(0.3, 0.6), noise=0.0)}),
    ),
)


@rule(
    "RWD013",
    "reward-outliers",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(
        ("reward/step_max", "reward/train_max", "reward/train_min", "reward/episode_return_mean", "reward/train_mean"),
    ),
    min_points=30,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=(
        "value-loss-explosion",
        "advantage-outliers",
        "critic-gradient-explosion",
        "grad-norm-explosion",
        "loss-explosion",
        "policy-loss-spike",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Isolated rewards lie far outside the range of all others.

    What it means:
        Single points are more than ten times the width of the central 90 % away from the median, and the next points
        are back in the usual range. Of the largest reward of a batch those above count, of the least those below.

    Why it matters:
        Targets, advantages and gradients of that update are made by one number.

    Usual causes:
        A division by something near zero; a collision or penalty without bound; units mixed up; a scorer that fails
        loudly.

    What to try:
        Log minimum and maximum of every reward term before they are summed; bound the term that jumps.

    When it is harmless:
        Heavy-tailed tasks with clipped or normalised rewards. Outliers that are all of one size may be the successes of
        a sparse task: a note. A lasting jump is progress and is not reported.

    References:
        Engineering defaults; robust distance in units of the central range.
    """
    for name in (
        "reward/step_max",
        "reward/train_max",
        "reward/train_min",
        "reward/episode_return_mean",
        "reward/train_mean",
    ):
        points = view.get(name)
        if points is None or len(points) < params.rows:
            continue
        low, high = (quantile(points.value, share) for share in (0.05, 0.95))
        if high <= low:
            continue
        middle = median(points.value)
        least = max(params.widths * (high - low), params.far * abs(middle))
        off = points.value - middle
        far = (SIDES[name] * off if name in SIDES else np.abs(off)) > least
        # An outlier is isolated when both of its neighbours are ordinary; the newest point cannot be judged yet.
        alone = far[1:-1] & ~far[:-2] & ~far[2:]
        count = int(alone.sum())
        if count == 0:
            continue
        first = int(np.argmax(alone)) + 1
        found = points.value[1:-1][alone]
        alike = np.ptp(found) <= params.one_size * np.abs(found).max()
        return Detection(
            message=f"{count} lone values of {name}, first {points.value[first]:.4g}; usual {low:.3g} to {high:.3g}",
            onset=view.onset(points.step[first - 1], points.step[first]),
            metric=points.metric,
            evidence={"outliers": count, "value": float(points.value[first]), "usual_low": low, "usual_high": high},
            severity=Severity.WARNING if count >= params.repeated and not alike else Severity.INFO,
        )
    return None
