"""The rule `reward-scale-jumps`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.stats.change import least_of
from firstbreak.view import RunView

RETURN = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")
LOSS = "critic/loss"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-scale-jumps`. Engineering defaults."""

    times: float = 20.0
    """Times its largest size so far that the return has in every row from then on. Learning climbs; it does not leap
    past twenty times the best so far from one row to the next."""
    rows: int = 6
    """Rows in which it lasts."""
    before: int = 8
    """Rows before it."""
    within: int = 4
    """Rows within which it happens: a mean over the last hundred episodes needs some."""


PPO = synth.like("PPO")
CASES = (
    fires(
        "other units from the middle on",
        lambda: PPO({RETURN[0]: synth.jump(50, 5e4), LOSS: synth.jump(20, 2e7)}),
    ),
    healthy("rises", lambda: PPO({})),
    near_miss(
        "learns a task all at once",
        lambda: PPO({RETURN[0]: synth.jump(0.02, 0.9, noise=0.3), LOSS: synth.jump(0.01, 0.2)}),
    ),
    near_miss("one wild row", lambda: PPO({RETURN[0]: synth.spikes(50, 5e4, at=(0.5,)), LOSS: synth.flat(20)})),
)


@rule(
    "RWD054",
    "reward-scale-jumps",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=(LOSS,),
    any_of=(RETURN,),
    when=("control",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=(
        "value-loss-explosion",
        "explained-variance-collapse",
        "explained-variance-negative",
        "return-falls-at-once",
        "return-collapse",
        "q-divergence",
        "critic-gradient-explosion",
        "grad-norm-explosion",
        "loss-explosion",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one row to the next returns are many times larger than any before, and the critic's loss with them.

    What it means:
        The return leaves its whole past behind by more than a factor of twenty at once, and the critic's loss, which
        goes with the square of the reward, by more than that.

    Why it matters:
        Values, gradients and clipping were set for the old units. What is learned next is the new scale.

    Usual causes:
        Another unit (metres for millimetres, percent for shares); a normaliser that was lost or frozen; a weight of one
        term that was set anew; a bonus that was multiplied twice.

    What to try:
        Replay one stored episode through the reward of before and of now.

    When it is harmless:
        A change of units on purpose, with a fresh critic.

    References:
        Henderson et al. 2018, arXiv 1709.06560, section on reward scale.
    """
    reward, loss = view.get(*RETURN), view.get(LOSS)
    assert reward is not None
    assert loss is not None
    place = leapt(np.abs(reward.value), params)
    if place is None:
        return None
    at = float(reward.step[place])
    past, now = loss.value[loss.step < at], loss.value[loss.step >= at]
    earlier = past[: -params.within] if past.size > params.within + params.before else past
    if earlier.size < params.before // 2 or now.size < params.rows // 2:
        return None
    if median(np.abs(now)) < params.times * float(np.abs(earlier).max()):
        return None
    before = median(reward.value[:place][-params.before :])
    after = median(reward.value[place : place + params.rows])
    return Detection(
        message=f"return went from {before:.4g} to {after:.4g} at once; critic's loss to {median(now):.3g}",
        onset=view.onset(float(reward.step[max(place - params.within, 0)]), at),
        metric=reward.metric,
        evidence={"before": before, "after": after, "loss_before": median(earlier), "loss_after": median(now)},
    )


def leapt(size: Floats, params: Params) -> int | None:
    """Return the first place of `size` [n] from which all of `rows` lie `times` above all that came `within` before."""
    if size.size < params.before + params.rows:
        return None
    places = np.arange(params.before, size.size - params.rows + 1)
    best = np.maximum.accumulate(size)[np.maximum(places - params.within, params.before) - 1]
    found = np.flatnonzero((best > 0) & (least_of(size, params.rows)[places] >= params.times * best))
    return int(places[found[0]]) if found.size else None
