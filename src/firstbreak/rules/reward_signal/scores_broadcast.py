"""The rule `scores-broadcast`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

MEAN, STD = "reward/train_mean", "reward/train_std"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `scores-broadcast`; engineering defaults where no source is named."""

    rounding: float = 1e-5
    """Spread over the largest mean up to which all rewards of a batch are one and the same number."""
    rows: int = 8
    """Rows on end in which they are."""
    values: int = 6
    """Different means among these rows: a scorer of single responses that finds them all alike finds them all right,
    all wrong, or one of few kinds."""


def of_batch(t: Floats, rng: np.random.Generator) -> Floats:
    """The share of right ones among 64 responses, given to each of them."""
    return np.round(64 * (0.4 + 0.08 * rng.standard_normal(t.size))) / 64


def all_or_none(t: Floats, rng: np.random.Generator) -> Floats:
    """One group a batch, whose responses are all right or all wrong."""
    return np.round(rng.random(t.size))


CASES = (
    fires("the mean of its batch for every response", lambda: GRPO({MEAN: of_batch, STD: synth.constant(0.0)})),
    fires("from half-way on", lambda: GRPO({MEAN: of_batch, STD: synth.jump(0.3, 0.0, 0.5, 0.0)})),
    healthy("rewards that differ", lambda: GRPO({})),
    near_miss("all wrong", lambda: GRPO({MEAN: synth.constant(0.0), STD: synth.constant(0.0)})),
    near_miss("all right", lambda: GRPO({MEAN: synth.constant(1.0), STD: synth.constant(0.0)})),
    near_miss("one group a batch, all right or all wrong", lambda: GRPO({MEAN: all_or_none, STD: synth.constant(0.0)})),
    near_miss("a small spread", lambda: GRPO({MEAN: of_batch, STD: synth.constant(0.01)})),
)


@rule(
    "RWD052",
    "scores-broadcast",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(
        MEAN,
        STD,
    ),
    when=("language",),
    min_points=8,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "zero-std-groups",
        "reward-std-collapse",
        "advantage-collapse",
        "reward-flat",
        "reward-redefined",
        "grad-norm-zero",
        "echo-trap",
        "advantage-outliers",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """All responses of a batch get one and the same reward, which is another number in each batch.

    What it means:
        The spread of the rewards is 0 row after row, while their mean changes: a scorer of single responses
        cannot do that.

    Why it matters:
        Without a spread no response is better than another: advantages are 0, and nothing is learned from a
        reward that seems to live.

    Usual causes:
        A mean or a sum over the batch where one score per response was meant; a result that is broadcast; one
        score read for all.

    What to try:
        Score two responses to one prompt by hand, a right and a wrong one, in one call.

    When it is harmless:
        Batches of a single group, with graded rewards, whose responses are all alike.

    References:
        Reported for a wrapper that handed one reward to all.
    """
    mean, std = view.get(MEAN), view.get(STD)
    assert mean is not None
    assert std is not None
    if len(mean) != len(std) or not np.array_equal(mean.step, std.step):
        return None
    size = float(np.abs(mean.value).max(initial=0.0))
    if not 0 < size < np.inf:
        return None
    alike = std.value <= params.rounding * size
    first = next(
        (
            start
            for start in range(len(mean) - params.rows + 1)
            if alike[start : start + params.rows].all()
            and len(np.unique(np.round(mean.value[start : start + params.rows] / size, 4))) >= params.values
        ),
        None,
    )
    if first is None:
        return None
    kinds = len(np.unique(np.round(mean.value[first : first + params.rows] / size, 4)))
    return Detection(
        message=f"all rewards of a batch are one number, and it was {kinds} numbers in {params.rows} updates",
        onset=view.onset(float(mean.step[max(first - 1, 0)]), float(mean.step[first])),
        metric=STD,
        evidence={"values": kinds, "rows": params.rows},
    )
