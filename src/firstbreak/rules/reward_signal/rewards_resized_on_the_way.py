"""The rule `rewards-resized-on-the-way`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.setting_moved import far
from firstbreak.stats import median
from firstbreak.view import RunView

GAIN, FIT = "data/reward_gain", "data/reward_fit"


@dataclass(frozen=True)
class Params:
    """Thresholds of `rewards-resized-on-the-way`. Engineering defaults."""

    times: float = 2.0
    """Factor by which stored rewards change against those of the environment."""
    steady: float = 1.2
    """Largest over smallest factor of the rows before: a normaliser by returns moves it, ever less."""
    before: int = 8
    """Rows before."""
    lasts: int = 2
    """Rows on end that keep away from it."""
    fit: float = 0.9
    """Share of the rewards' variance that must follow from the environment's: else they are others, of no factor."""


PPO = synth.like("PPO")


def varied(t: Floats, rng: np.random.Generator) -> Floats:
    """Rewards that vary in a few rows alone; in the others nothing is logged."""
    return np.where(rng.random(t.size) < 0.05, 1.0, np.nan)


CASES = (
    fires("a tenth from the middle on", lambda: PPO({GAIN: synth.jump(1.0, 0.1, 0.6, 0.0)})),
    fires("the sign is turned", lambda: PPO({GAIN: synth.jump(1.0, -1.0, 0.6, 0.0)})),
    healthy("as it was", lambda: PPO({GAIN: synth.constant(0.01)})),
    near_miss("a normaliser by returns that grow", lambda: PPO({GAIN: synth.geometric(1.0, 0.05)})),
    near_miss(
        "an offset, where all rewards of a row are alike, but for a few",
        lambda: PPO({GAIN: synth.jump(0.5, 1.0, 0.6, 0.0), FIT: varied}),
    ),
    near_miss("one row", lambda: PPO({GAIN: synth.spikes(1.0, 0.1, (0.6,), 0.0)})),
    near_miss("a factor that is none: it moves with the state", lambda: PPO({GAIN: synth.flat(1.0, 0.5)})),
)


@rule(
    "RWD112",
    "rewards-resized-on-the-way",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(GAIN,),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=(
        "rewards-not-as-paid",
        "reward-scale-jumps",
        "reward-moves-at-once",
        "value-loss-explosion",
        "critic-moves-at-once",
        "critic-loss-leaps",
        "explained-variance-collapse",
        "smooth-decline",
        "return-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Stored rewards are another multiple of what the environment paid than a row before.

    What it means:
        Rewards pass through a factor on their way into the rollout or the replay buffer. It was steady and is now half,
        twice or the opposite, while the environment pays as it did.

    Why it matters:
        The critic's targets are of another size: its loss and gradients jump, and old transitions contradict new ones.

    Usual causes:
        A normaliser of rewards that begins anew at a resume; a scale that a callback or wrapper sets; a sign.

    What to try:
        Print, for twenty steps, the reward that `step` returned beside the one that is stored.

    When it is harmless:
        A scale that you changed by plan; values then take some time to follow.

    References:
        Henderson et al. 2018, arXiv 1709.06560, section 4 (what a reward's scale does).
    """
    points, fit = view.get(GAIN), view.get(FIT)
    assert points is not None
    step, value = points.step, points.value
    if fit is not None and len(fit):  # where rewards are all alike, an offset looks like a factor
        both = np.isin(step, fit.step[fit.value >= params.fit])
        step, value = step[both], value[both]
    place = resized(value, params)
    if place is None:
        return None
    before, now = median(value[place - params.before : place]), median(value[place:])
    return Detection(
        message=f"stored rewards were {before:.3g} times what the environment paid, and are {now:.3g} times",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=GAIN,
        evidence={"before": before, "now": now},
    )


def resized(value: Floats, params: Params) -> int | None:
    """Return the first row from which on the factor [n] is another, after rows in which it was steady."""
    if value.size < params.before + params.lasts:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(value, params.before)[: -params.lasts]
    size = np.abs(windows)
    steady = (windows.min(1) * windows.max(1) > 0) & (size.max(1) <= params.steady * size.min(1))
    moved = np.abs(value[params.before : value.size - params.lasts + 1] / np.where(steady, windows[:, -1], 1.0) - 1)
    for place in np.flatnonzero(steady & (moved > params.steady - 1)) + params.before:
        usual = median(value[place - params.before : place])
        if all(far(usual, float(now), params.times) for now in value[place : place + params.lasts]):
            return int(place)
    return None
