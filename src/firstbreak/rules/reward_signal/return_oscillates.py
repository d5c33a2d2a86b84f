"""The rule `return-oscillates`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, from_start
from firstbreak.series import Floats
from firstbreak.stats import count_swings, mad
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `return-oscillates`. Engineering defaults where no source is named."""

    swing: float = 0.5
    """Size of a swing over the whole range of the smoothed return."""
    swings: int = 4
    """Swings of that size: up, down, up, down."""
    rows: int = 60
    """Rows needed to see that many swings."""


PPO = synth.like("PPO")


def waves(t: Floats, rng: np.random.Generator) -> Floats:
    """Four full waves between 50 and 250 with little noise."""
    return 150 + 100 * np.sin(8 * np.pi * t) + 5 * rng.standard_normal(t.size)


CASES = (
    fires("learned and lost again and again", lambda: PPO({"reward/episode_return_mean": waves})),
    healthy("rises", lambda: PPO({})),
    near_miss("noise around a level", lambda: PPO({"reward/episode_return_mean": synth.walk(150, 10, rho=0.0)})),
    near_miss(
        "one dip on the way up",
        lambda: PPO(
            {"reward/episode_return_mean": synth.after(0.5, synth.ramp(100, 400, 0.03), synth.ramp(20, 500, 0.03))}
        ),
    ),
)


@rule(
    "RWD023",
    "return-oscillates",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    any_of=(TRAIN,),
    min_points=60,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The return swings up and down by most of its range, again and again.

    What it means:
        The smoothed return makes at least four swings of half its range or more; the swings are far above the noise.

    Why it matters:
        Progress is undone as fast as it is made: steps overshoot, or the critic chases the policy.

    Usual causes:
        Steps too large for the batch; a noisy critic; a replay buffer that forgets; opponents that adapt.

    What to try:
        A third of the learning rate, or a larger batch, for a tenth of the run.

    When it is harmless:
        Cyclic curricula; self-play.

    References:
        Engineering defaults; see the parameters.
    """
    reward = view.get(*TRAIN)
    assert reward is not None
    if len(reward) < params.rows:
        return None
    size = max(5, len(reward) // 20)
    smooth = np.convolve(reward.value, np.ones(size) / size, mode="valid")
    noise = mad(np.diff(reward.value)) / np.sqrt(2 * size)
    span = float(np.ptp(smooth))
    need = params.swing * span
    if need <= 8 * noise:
        return None
    swings = count_swings(smooth, need)
    if swings < params.swings:
        return None
    return Detection(
        message=f"{swings} swings of at least {need:.3g} in the smoothed return (range {span:.3g})",
        onset=from_start(view, reward),
        metric=reward.metric,
        evidence={"swings": swings, "swing": need, "range": span},
    )
