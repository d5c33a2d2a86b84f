"""The rule `steps-earn-beyond-all`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

MEAN, LEAST, MOST = "reward/env_mean", "reward/env_min", "reward/env_max"
PAYMENT, WORLD = "reward/env_surprise", "env/dynamics_surprise"


@dataclass(frozen=True)
class Params:
    """Thresholds of `steps-earn-beyond-all`.

    Calibrated on 1228 recorded runs of control (2026-11-26): of those without a fault none reaches them; one alone
    comes past all single rewards, in a world that surprises five times as much as usual.
    """

    before: int = 12
    """Rows that say what a step may earn. Engineering default, as in `reward-beyond-all`."""
    rows: int = 2
    """Rows in a row that must show it. Engineering default."""
    above: float = 0.02
    """Share of the range of single rewards by which the mean must lie above the best. Engineering default: a step of
    learning moves a mean towards the best that there was."""
    payment: float = 2.0
    """Times the usual error of what earlier steps predict of the reward, in one of these rows: or times the largest
    of the newest rows before, where these were foreseen better than ever."""
    recent: int = 8
    """How many these are. Engineering default: the errors of a young model are the largest for long."""
    world: float = 2.0
    """The same of the next observation that no row may pass: where a policy comes to new places, more is paid, too."""


PPO = synth.like("PPO")


def paid(mean: float, least: float, most: float, world: float = 1.0, payment: float = 5.0) -> dict[str, synth.Shape]:
    """A mean of 0.8 between 0 and 1 until half-way, and then these; and how far from foreseen both are then."""
    then = zip(
        (MEAN, LEAST, MOST, PAYMENT, WORLD), (0.8, 0.0, 1.0, 1.0, 1.0), (mean, least, most, payment, world), strict=True
    )
    return {name: synth.jump(a, b, at=0.5, noise=0.0) for name, a, b in then}


LATELY = synth.after(0.2, synth.after(0.5, synth.flat(0.7, 0.05), synth.flat(0.03, 0.05)), synth.flat(1.5, 0.1))
CASES = (
    fires("what is far from usual is paid besides", lambda: PPO(paid(1.6, 1.4, 1.9))),
    fires("a bonus of ten for most steps", lambda: PPO(paid(8.0, 0.0, 11.0))),
    fires("it surprises less than what a first policy found", lambda: PPO(paid(1.6, 1.4, 1.9) | {PAYMENT: LATELY})),
    healthy("the same reward throughout", lambda: PPO(paid(0.8, 0.0, 1.0, payment=1.0))),
    near_miss("a better best, and a mean within", lambda: PPO(paid(0.95, 0.0, 1.9))),
    near_miss("a policy that comes to places where it never was", lambda: PPO(paid(1.6, 1.4, 1.9, world=5.0))),
    near_miss("more is earned, as was foreseen", lambda: PPO(paid(1.6, 1.4, 1.9, payment=1.0))),
    near_miss(
        "more is earned, and foreseen as lately",
        lambda: PPO(paid(1.6, 1.4, 1.9) | {PAYMENT: synth.flat(0.3, 0.05)}),
    ),
)


@rule(
    "RWD131",
    "steps-earn-beyond-all",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(MEAN, LEAST, MOST, PAYMENT, WORLD),
    min_points=15,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-moves-at-once", "return-collapse", "value-loss-explosion", "q-divergence", "values-jump"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Steps earn on average what no single one had ever earned, in a world that moves as foreseen.

    What it means:
        The mean reward of some steps lies above the best single reward of all rows but the newest before. It was not
        foreseen, while the next observations were.

    Why it matters:
        Learning moves the mean within what was paid before. What lies outside is another reward: another scale, or a
        term that came in, and the policy follows that term.

    Usual causes:
        A bonus for novelty or survival that was switched on, or is in other units; a sum in place of a mean; a reward
        that is no longer divided or clipped.

    What to try:
        Score saved transitions of before with the reward of now; log each term by itself.

    When it is harmless:
        A stage of a curriculum with another reward, by intent: log `env/curriculum`.

    References:
        Burda et al. 2019, arXiv 1810.12894 (bonuses for novelty and their scale).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    series = [view.get(name) for name in (MEAN, LEAST, MOST)]
    step = np.array([])
    for place, known in enumerate(series):
        assert known is not None
        step = known.step if place == 0 else np.intersect1d(step, known.step)
    mean, least, most = (points.value[np.isin(points.step, step)] for points in series if points is not None)
    best, worst = np.maximum.accumulate(most), np.minimum.accumulate(least)
    places = np.arange(params.before + 1, mean.size - params.rows + 1)
    # Not over the row right before: what changes within it has already paid some of its steps.
    top, size = best[places - 2], (best - worst)[places - 2]
    lowest = np.min([mean[places + row] for row in range(params.rows)], axis=0) if places.size else top
    beyond = places[(size > 0) & np.isfinite(size) & (lowest > top + params.above * size)]
    # The first alone: who has come to places where more is paid finds more of them.
    if not beyond.size or not _reward_alone(view, step[beyond[0] - 2 : beyond[0] + params.rows], params):
        return None
    place, bound = int(beyond[0]), float(best[beyond[0] - 2])
    return Detection(
        message=f"steps earn {mean[place]:.4g} on average, where no single one had earned more than {bound:.4g}",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=MEAN,
        evidence={"mean": float(mean[place]), "best_before": bound},
    )


def _reward_alone(view: RunView, steps: Floats, params: Params) -> bool:
    """Whether rewards were not foreseen in one of the rows at `steps` [n], and observations in all that say so."""
    payment, world = view.get(PAYMENT), view.get(WORLD)
    assert payment is not None
    assert world is not None
    rewards, moved = (points.value[np.isin(points.step, steps)] for points in (payment, world))
    before = payment.value[payment.step < steps[1]][-params.recent :]
    usual = min(1.0, float(before.max())) if before.size == params.recent else 1.0
    return bool(rewards.size and moved.size and rewards.max() >= params.payment * usual and moved.max() <= params.world)
