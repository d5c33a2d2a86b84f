"""The rule `updates-begin-late`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended
from firstbreak.series import Floats
from firstbreak.view import RunView

LOSSES = ("critic/loss", "optim/loss_total", "critic/q_mean")
RETURN = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `updates-begin-late`. Engineering defaults."""

    share: float = 0.5
    """Share of a run that has ended before the first loss. Published settings warm up for less than a tenth; smoke
    tests reach a third."""
    rows: int = 30
    """Rows of returns before the first loss, so that a log of few rows does not say so by its rounding."""


DQN = synth.like("DQN")


def late(at: float) -> dict[str, synth.Shape]:
    """Losses that are not there before `at`."""

    def from_there(then: synth.Shape) -> synth.Shape:
        def shape(t: Floats, rng: np.random.Generator) -> Floats:
            return np.where(t < at, np.nan, then(t, rng))

        return shape

    return {"critic/loss": from_there(synth.flat(0.1)), "critic/q_mean": from_there(synth.flat(0.5))}


CASES = (
    fires("nine tenths of the run without an update", lambda: DQN(late(0.9))),
    healthy("a short warm-up", lambda: DQN({})),
    near_miss("a third is warm-up", lambda: DQN(late(0.33))),
)


@rule(
    "DAT034",
    "updates-begin-late",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    any_of=(LOSSES, RETURN),
    when=("replay",),
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "epsilon-floor-early", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A run has ended in which more than half of the steps were over before the first update.

    What it means:
        Returns are logged from the start on, the first loss only in the second half.

    Why it matters:
        The run collected data and learned next to nothing of them, without any error.

    Usual causes:
        A warm-up in other units than meant: steps of one environment or of all, or the settings of a longer run.

    What to try:
        Print the warm-up beside the planned steps.

    When it is harmless:
        Where data are collected on purpose first.

    References:
        None; the rule reads two first rows.
    """
    loss, reward = view.get(*LOSSES), view.get(*RETURN)
    assert loss is not None
    assert reward is not None
    if not ended(view) or not len(loss) or not len(reward):
        return None
    begin, first, last = float(reward.step[0]), float(loss.step[0]), max(float(reward.step[-1]), float(loss.step[-1]))
    share = (first - begin) / max(last - begin, 1e-9)
    if share < params.share or np.count_nonzero(reward.step < first) < params.rows:
        return None
    return Detection(
        message=f"the first loss is logged at step {first:.4g}, {share:.0%} of the run",
        onset=view.onset(begin),
        metric=loss.metric,
        evidence={"first_loss_step": first, "share_frac": share},
    )
