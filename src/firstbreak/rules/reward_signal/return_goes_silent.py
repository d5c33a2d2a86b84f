"""The rule `return-goes-silent`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

RETURN = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `return-goes-silent`. Engineering defaults."""

    rows: int = 8
    """Latest rows in which the return is exactly 0; twice as many where rows are single episodes."""
    zeros: float = 0.01
    """Share of earlier rows that may be exactly 0."""
    far: float = 0.5
    """Least distance of earlier costs from 0, over their latest level, at which none of them was near it."""
    left: float = 0.1
    """Share of the largest cost that the latest ones must still have: small ones may be learned away."""
    passing: int = 2
    """Rows in which a mean over the latest episodes may pass from cost to nothing."""


PPO = synth.like("PPO")
PAID = synth.ramp(-1.0, 0.9, 0.05)
COST = synth.ramp(-500.0, -85.0, 0.03, until=0.55)
CASES = (
    fires("nothing is paid any more", lambda: PPO({RETURN[0]: synth.after(0.6, synth.constant(0.0), PAID)})),
    healthy("rises", lambda: PPO({RETURN[0]: PAID})),
    near_miss(
        "successes that ceased where failures pay nothing",
        lambda: PPO({RETURN[0]: synth.after(0.6, synth.constant(0.0), synth.clipped(PAID, 0.0, 1.0))}),
    ),
    fires("costs are gone at once", lambda: PPO({RETURN[0]: synth.after(0.6, synth.constant(0.0), COST)})),
    near_miss(
        "costs that were learned away",
        lambda: PPO({RETURN[0]: synth.after(0.6, synth.constant(0.0), synth.ramp(-90.0, -1.0, 0.01, until=0.55))}),
    ),
    near_miss(
        "what succeeds fails at once, and failures pay nothing",
        lambda: PPO({RETURN[0]: synth.after(0.6, synth.constant(0.0), synth.flat(90.0, 0.05))}),
    ),
    near_miss("a few rows of 0", lambda: PPO({RETURN[0]: synth.spikes(0.8, 0.0, at=(0.5, 0.51), noise=0.3)})),
    near_miss("costs that became small", lambda: PPO({RETURN[0]: synth.after(0.6, synth.flat(0.0, 0.01), PAID)})),
)


@rule(
    "RWD053",
    "return-goes-silent",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(RETURN,),
    when=("control",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "return-falls-at-once",
        "reward-flat",
        "explained-variance-negative",
        "explained-variance-collapse",
        "advantage-collapse",
        "critic-not-learning",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The return is exactly 0 in every row, and never was before, whether episodes went well or badly.

    What it means:
        Episodes used to earn something when they succeeded, and something less than 0 when they failed. A sum of such
        rewards that is 0 to the last digit, row after row, holds no reward at all. Nor does one of costs alone that
        were never near 0, and are gone from one row to the next.

    Why it matters:
        There is nothing left to learn from, and values of what was once paid are unlearned.

    Usual causes:
        A dead sensor or reward service; a reward model that answers with a default; a wrapper that drops the reward; a
        key that was renamed.

    What to try:
        Print the reward of ten steps as the environment returns it, then as it enters the buffer.

    When it is harmless:
        A phase without rewards on purpose.

    References:
        None; the rule compares with the run's own past.
    """
    reward = view.get(*RETURN)
    assert reward is not None
    paid = np.flatnonzero(reward.value != 0)
    rows = params.rows * (1 if reward.metric == RETURN[0] else 2)
    if not paid.size:
        return None
    start = int(paid[-1]) + 1
    before = reward.value[:start]
    if reward.value.size - start < rows or before.size < rows:
        return None
    if not before.min() < 0 < before.max() and not costs_vanish(before, params):
        return None
    if np.mean(before == 0) > params.zeros:
        return None
    earlier = median(before[-8 * rows :])
    return Detection(
        message=f"return is exactly 0 in the last {reward.value.size - start} rows; before it was {earlier:.4g}",
        onset=view.onset(float(reward.step[start - 1]), float(reward.step[start])),
        metric=reward.metric,
        evidence={"rows": reward.value.size - start, "before": earlier},
    )


def costs_vanish(before: Floats, params: Params) -> bool:
    """Whether earlier returns [n] were costs alone, far from 0 until a few rows before the end."""
    settled = before[: -params.passing]
    if not settled.size:
        return False
    level = median(settled[-params.rows :])
    return bool(settled.max() <= params.far * level < 0 and level <= params.left * settled.min())
