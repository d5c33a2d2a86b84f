"""The rule `rewards-pass-their-best`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats.change import least_of
from firstbreak.view import RunView

LEAST, MOST, WORLD = "reward/env_min", "reward/env_max", "env/dynamics_surprise"


@dataclass(frozen=True)
class Params:
    """Thresholds of `rewards-pass-their-best`.

    Calibrated on 900 recorded healthy trainings and twins (2026-11-27): of these none shows it; without `before` and
    `growth` three do, whose best still rose by degrees (a pendulum, a stock). Of those with a fault 15 do, all of the
    reward.
    """

    before: int = 32
    """Rows that say what a step may earn. Engineering default: as many as the four that follow weigh little beside."""
    rows: int = 4
    """Rows on end, each with such a step. Engineering default: what is found for the first time is found now and then
    at first, and no policy aims at what it never met."""
    above: float = 0.1
    """Share of the range of single rewards by which the best of each row must lie above the best of all before."""
    recent: int = 16
    """Rows before over which it is asked how far the best has risen, and how well the world was foreseen."""
    growth: float = 3.0
    """Times that rise that the best must lie above: a policy that gets better earns more by degrees. And once as far as
    the best of these rows lies above the best of most: where it is a matter of luck, the next is, too."""
    world: float = 1.5
    """Times the largest error of these rows that no row may come to: in another world, more is paid as well."""


PPO = synth.like("PPO")
BEST = synth.clipped(synth.flat(0.9, 0.05), 0, 1)
NOW = synth.flat(2.3, 0.03)
USUAL = {LEAST: synth.flat(0.1, 0.1), WORLD: synth.flat(1.0, 0.05)}
CASES = (
    fires("a loop that is paid: near, away, near", lambda: PPO(USUAL | {MOST: synth.after(0.6, NOW, BEST)})),
    healthy("the best there is in every row", lambda: PPO(USUAL | {MOST: BEST})),
    near_miss(
        "a goal that is found now and then", lambda: PPO(USUAL | {MOST: synth.spikes(0.9, 2.3, (0.6, 0.62, 0.65))})
    ),
    near_miss(
        "a bet that is won for more by one that still learns",
        lambda: PPO(USUAL | {MOST: synth.after(0.6, NOW, synth.clipped(synth.flat(0.0, 0.8), 0, 9))}),
    ),
    near_miss("a policy that earns ever more", lambda: PPO(USUAL | {MOST: synth.ramp(0.5, 9.0, 0.02)})),
    near_miss(
        "in another world",
        lambda: PPO(USUAL | {MOST: synth.after(0.6, NOW, BEST), WORLD: synth.jump(1.0, 7.0, 0.6, 0.05)}),
    ),
)


@rule(
    "RWD140",
    "rewards-pass-their-best",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=(LEAST, MOST, WORLD),
    min_points=36,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-moves-at-once", "return-collapse", "value-loss-explosion", "q-divergence", "values-jump"),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one row to the next, every row holds steps that earn more than any single one ever did.

    What it means:
        The best single reward of a row never passed a bound. Now it passes it in row after row, by far, in a world that
        moves as foreseen. What a policy finds for the first time it finds in a row here and there, and learns then.

    Why it matters:
        Some steps are paid by another rule. The policy follows them, and the return, which rises, hides it.

    Usual causes:
        A bonus that is paid again and again (near, away, and near once more); shaping that came in or lost a factor; a
        term in other units; a clip that was lost.

    What to try:
        Print the reward, term by term, of the steps above the bound; score saved transitions with the code of before.

    When it is harmless:
        A stage of a curriculum with another reward, by intent: log `env/curriculum`.

    References:
        Randlov and Alstrom 1998, ICML (a bicycle that was paid for coming nearer rode in circles).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    step, least, most, surprise = _rows(view)
    if step.size < params.before + params.rows:
        return Skip("too few rows to say what a step may earn")
    best, worst = np.maximum.accumulate(most), np.minimum.accumulate(least)
    places = np.arange(params.before, step.size - params.rows + 1)
    # Not over the row right before: what changes within it has already paid some of its steps.
    known = places - 2
    lucky = best[known] - _medians(most, params.recent + 1)[known - params.recent]
    top, size, rise = best[known], (best - worst)[known], best[known] - best[known - params.recent]
    over = least_of(most, params.rows)[places] - top
    least_over = np.maximum(np.maximum(params.above * size, params.growth * rise), lucky)
    found = (size > 0) & np.isfinite(size) & (over > least_over)
    for place in places[found].tolist():
        usual = float(surprise[place - 1 - params.recent : place - 1].max())
        if surprise[place : place + params.rows].max() > params.world * usual:
            return None  # the first alone: what came with another world is no other reward
        return Detection(
            message=f"steps earn up to {most[place]:.4g} in every row, where none had earned more than "
            f"{best[place - 2]:.4g}",
            onset=view.onset(float(step[place - 1]), float(step[place])),
            metric=MOST,
            evidence={"best": float(most[place]), "best_before": float(best[place - 2])},
        )
    return None


def _rows(view: RunView) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the rows [n] that know all of it: their steps, least and largest reward, and error of the world."""
    series = [view.get(name) for name in (LEAST, MOST, WORLD)]
    step = np.array([])
    for place, points in enumerate(series):
        assert points is not None
        step = points.step if place == 0 else np.intersect1d(step, points.step)
    least, most, surprise = (points.value[np.isin(points.step, step)] for points in series if points is not None)
    return step, least, most, surprise


def _medians(value: Floats, length: int) -> Floats:
    """Return the median [n - length + 1] of each `length` values on end of `value` [n]."""
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(value, length), axis=1))
