"""The rule `reward-beyond-all`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

MEAN, LEAST, MOST = "reward/train_mean", "reward/train_min", "reward/train_max"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-beyond-all`: over the range of all single rewards so far, how far the mean lies outside.

    Of 663 runs of TRL's GRPO without a fault no mean lies outside at all in two rows on end.
    """

    before: int = 12
    """Rows that say what a response may earn. Engineering default."""
    rows: int = 2
    """Rows in a row that must show it. Engineering default."""
    above: float = 0.02
    """Above the best. Engineering default: a step of learning moves a mean towards the best that there was."""
    below: float = 0.1
    """Below the worst. Engineering default: more, since a policy that breaks at once may say worse than ever before."""


GRPO = synth.like("GRPO")


def paid(before: tuple[float, float, float], then: tuple[float, float, float]) -> dict[str, synth.Shape]:
    """Mean, least and most of a batch, before half-way and after."""
    both = zip((MEAN, LEAST, MOST), before, then, strict=True)
    return {name: synth.jump(a, b, at=0.5, noise=0.0) for name, a, b in both}


CASES = (
    fires("every token is paid besides", lambda: GRPO(paid((0.7, 0.0, 1.0), (1.7, 1.2, 2.0)))),
    fires("a bonus of ten for most", lambda: GRPO(paid((0.4, 0.0, 1.0), (6.0, 0.0, 11.0)))),
    fires("the sign turns", lambda: GRPO(paid((0.7, 0.0, 1.0), (-0.7, -1.0, 0.0)))),
    healthy("learns to earn the best that there was", lambda: GRPO(paid((0.4, 0.0, 1.0), (1.0, 1.0, 1.0)))),
    near_miss("a better best, and a mean within", lambda: GRPO(paid((0.4, 0.0, 1.0), (0.8, 0.0, 3.0)))),
    near_miss("falls to the worst that there was", lambda: GRPO(paid((0.8, 0.0, 1.0), (0.0, 0.0, 0.0)))),
    near_miss(
        "one batch",
        lambda: GRPO(paid((0.4, 0.0, 1.0), (0.4, 0.0, 1.0)) | {MEAN: synth.spikes(0.4, 3.0, at=(0.5,), noise=0.0)}),
    ),
)


@rule(
    "RWD118",
    "reward-beyond-all",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(MEAN, LEAST, MOST),
    when=("language",),
    min_points=14,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-redefined", "reward-steps-down", "return-collapse", "zero-std-groups", "reward-std-collapse",
        "reward-is-length", "proxy-divergence", "length-collapse", "truncation-growing", "response-collapse",
        "reward-moves-at-once", "exploration-moves-at-once", "environment-moves-at-once", "format-reward-dominates",
        "token-entropy-collapse", "reward-outliers",
    ),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """From one update to the next, responses earn on average what no single one had ever earned.

    What it means:
        The mean reward of a batch lies above the best single reward of all batches before, or below the worst.

    Why it matters:
        Learning moves the mean within what was paid before. What lies outside is another reward: another scale or sign,
        or a term that came in.

    Usual causes:
        A bonus or penalty that was switched on; a sum in place of a mean; a sign; a scorer that was exchanged.

    What to try:
        Score a response of before that update with the reward of now.

    When it is harmless:
        A stage with another reward, by intent.

    References:
        None; the rule compares a mean with a range.
    """
    series = [view.get(name) for name in (MEAN, LEAST, MOST)]
    mean, least, most = series
    assert mean is not None
    assert least is not None
    assert most is not None
    step = np.intersect1d(np.intersect1d(mean.step, least.step), most.step)
    own, low, high = (points.value[np.isin(points.step, step)] for points in (mean, least, most))
    found = left(own, low, high, params)
    if found is None:
        return None
    place, bound = found
    return Detection(
        message=f"a mean reward of {own[place]:.4g}, where no response had earned more than {bound:.4g}"
        if own[place] > bound
        else f"a mean reward of {own[place]:.4g}, where no response had earned less than {bound:.4g}",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=MEAN,
        evidence={"mean": float(own[place]), "bound": bound},
    )


def left(mean: Floats, least: Floats, most: Floats, params: Params) -> tuple[int, float] | None:
    """Return the first row whose mean, and that of those after it, is outside all single rewards, and the bound."""
    best, worst = np.maximum.accumulate(most), np.minimum.accumulate(least)
    for place in range(params.before, mean.size - params.rows + 1):
        top, bottom = float(best[place - 1]), float(worst[place - 1])
        size, own = top - bottom, mean[place : place + params.rows]
        if not 0 < size < np.inf:
            continue
        if own.min() > top + params.above * size:
            return place, top
        if own.max() < bottom - params.below * size:
            return place, bottom
    return None
