"""The rule `reward-is-noise`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, rises
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

MEAN, STD, HIGH, LOW = "reward/env_mean", "reward/env_std", "reward/env_max", "reward/env_min"
SURPRISE = "reward/env_surprise"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-is-noise`. Engineering defaults."""

    rows: int = 30
    """Rows that an estimate of scatter needs."""
    spread: float = 15.0
    """Spread of single rewards over their mean. Calibrated on recorded runs and a draw of healthy trainings
    (2026-11-26): rewards of the way and of the end that cancel each other reach 7, noise on top of rewards had 29."""
    both: float = 0.95
    """Share of rows that hold rewards of both signs."""
    independent: tuple[float, float] = (0.8, 1.25)
    """Scatter of the rows' means over that of means of independent rewards: 1 by definition where each step draws its
    reward afresh, far above where states and rewards last."""
    unforeseen: float = 0.9
    """Error of predictions from observation and action over the usual one: below, something is learned of rewards."""
    distinct: float = 0.9
    """Share of rows whose largest reward is like no other's: scores and wins come in few sizes."""
    lopsided: float = 3.0
    """How many times as far the rows' extremes reach on one side of their mean as on the other: about 1 of noise
    (normal, uniform, Laplace, Student's t), 20 where the way pays a little and one end in many takes ten times that."""


PPO = synth.like("PPO", clock="env_steps", step=64.0)
DRAWN = {
    MEAN: synth.flat(1.0, 30 / 8),
    STD: synth.flat(30.0, 0.1),
    HIGH: synth.flat(75.0, 0.1),
    LOW: synth.flat(-75.0, 0.1),
    SURPRISE: synth.flat(1.0, 0.1),
    "reward/episode_return_mean": synth.walk(20, 30, rho=0.0),
}
CASES = (
    fires("each step draws its reward", lambda: PPO(DRAWN)),
    healthy("rewards last", lambda: PPO(DRAWN | {MEAN: synth.walk(0.0, 20.0, rho=0.9)})),
    near_miss(
        "what the way pays and what the end takes cancel each other",
        lambda: PPO(DRAWN | {MEAN: synth.flat(4.5, 30 / 8 / 4.5)}),
    ),
    near_miss(
        "the way pays a little, falling takes ten times that: rare, and by lot while the policy is that of the start",
        lambda: PPO(DRAWN | {HIGH: synth.flat(12.0, 0.1), LOW: synth.flat(-135.0, 0.1)}),
    ),
    near_miss("a game that is won or lost", lambda: PPO(DRAWN | {HIGH: synth.constant(1.0)})),
    near_miss("noisy, and yet it is learned", lambda: PPO(DRAWN | {"reward/episode_return_mean": synth.ramp(20, 400)})),
    near_miss(
        "costs turn into gains: their mean over all rows is near 0, and it rises",
        lambda: PPO(DRAWN | {MEAN: synth.ramp(-20.0, 20.0, 0.1875)}),
    ),
    near_miss("rewards that follow from what is done", lambda: PPO(DRAWN | {SURPRISE: synth.flat(0.5, 0.1)})),
)


@rule(
    "RWD040",
    "reward-is-noise",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(MEAN, STD, HIGH, LOW),
    any_of=(TRAIN,),
    when=("control",),
    min_points=30,
    params=Params(),
    cases=CASES,
    with_loss=True,
    across_phases=True,
    implies=("reward-flat", "explained-variance-negative", "critic-not-learning", "entropy-stuck-high"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Rewards of single steps are drawn as by lot: of both signs, many times their mean, and nothing foretells them.

    What it means:
        They spread many times as far as their mean is from 0, and reach about as far on both sides of it. The means of
        rows differ by just what means of independent draws do. Neither observation nor action says anything of them;
        neither they nor the return rise.

    Why it matters:
        The sum that is to be raised drowns. Each update follows the luck of its batch.

    Usual causes:
        Noise that is added for robustness on another scale than the reward; a sensor or a judge without signal; rewards
        that are shuffled or belong to other steps; a normaliser that divides by next to nothing.

    What to try:
        Repeat the same step from the same state ten times and compare the rewards.

    When it is harmless:
        Markets and other tasks whose rewards are mostly luck: average over more steps.

    References:
        Engineering defaults; the scatter of means of independent draws is theirs over the root of their number.
    """
    mean, spread, high, low = (view.get(name) for name in (MEAN, STD, HIGH, LOW))
    assert mean is not None
    assert spread is not None
    assert high is not None
    assert low is not None
    steps = row_steps(view, mean.step)
    if steps is None or min(len(mean), len(spread), len(high), len(low)) < params.rows or median(spread.value) <= 0:
        return None
    # A policy whose costs turn into gains passes through a mean of 0: then one half of the rows lies away from it.
    halves = np.array_split(mean.value, 2)
    ratio = median(spread.value) / max(*(abs(median(half)) for half in (mean.value, *halves)), 1e-12)
    mixed = float(((high.value > 0) & (low.value < 0)).mean()) if len(high) == len(low) else 0.0
    distinct = np.unique(high.value).size / len(high)
    if ratio < params.spread or mixed < params.both or distinct < params.distinct:
        return None
    scatter = float(np.diff(mean.value).std() / np.sqrt(2) / (median(spread.value) / np.sqrt(steps)))
    up, down = (median(np.abs(reach.value - median(mean.value))) for reach in (high, low))
    if max(up, down) > params.lopsided * min(up, down):
        return None
    surprise = view.get(SURPRISE)
    if surprise is not None and len(surprise) and median(surprise.value) < params.unforeseen:
        return None
    if not params.independent[0] <= scatter <= params.independent[1]:
        return None
    if any(rises(view.get(name)) for name in (MEAN, *TRAIN, *TRUTH)):
        return None
    return Detection(
        message=f"rewards spread by {median(spread.value):.3g}, {ratio:.2g} times their mean, each drawn afresh",
        onset=view.onset(float(mean.source.step[0])),
        metric=STD,
        evidence={"spread": median(spread.value), "mean": median(mean.value), "scatter_of_independent": scatter},
    )


def row_steps(view: RunView, step: Floats) -> float | None:
    """Environment steps that a row of these metrics covers; None where steps are not the run's clock."""
    return median(np.diff(step)) if view.clock == "env_steps" and step.size > 1 else None
