"""The rule `reward-redefined`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.rules.reward_signal import (
    at_its_best,
    by_chance,
    candidates,
    clamped,
    differ_again,
    mixed_otherwise,
    solved,
)
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.stats.absence import few_strangers, other_shares
from firstbreak.stats.change import least_of
from firstbreak.view import Points, RunView

MIXED = 1
"""Rows before a change that are left out: the change falls within a row, which then holds both."""
LEVEL = ("reward/env_mean", "reward/train_mean")
SPREAD = ("reward/env_std", "reward/train_std", "group/reward_std_mean")


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-redefined`. Engineering defaults where no source is named."""

    rows: int = 8
    """Earlier rows that say what is usual: the shortest stretch with a stated error."""
    lasts: int = 2
    """Rows in a row that must show it."""
    scale: float = 10.0
    """Factor over the largest earlier size of level or spread: learning changes a reward by less within one row."""
    jumps: float = 5.0
    """How many times the usual change from row to row a change of sign must be, so that crossing 0 is no break."""
    bounded: int = 4
    """Rows in a row whose farthest reward is exactly the same, where no two of the rows before were alike."""
    remainder: float = 0.05
    """Share of the farthest reward of a row that those of the old sign may keep when all others turned over."""
    strangers: float = 0.125
    """Share of a row's range within which most of its rewards lie, where few of a new kind are a goal first reached."""
    mirror: float = 3.0
    """A flipped reward is of the size of the one before, within this factor."""
    vanished: float = 1e-3
    """Share of the least earlier spread below which the rewards no longer differ."""
    abrupt: float = 0.5
    """Share of the usual spread that the least of the rows before must keep: a solved task's vanishes by degrees."""
    few: float = 0.05
    """Share of the single rewards up to which a policy may itself have made all the best one. Engineering default;
    faults of the benchmark's development half changed 0.27 and more."""


PPO = synth.like("PPO")
RISING = synth.ramp(-3.0, -0.5, 0.05)
HEALTHY = {"reward/env_mean": RISING, "reward/env_std": synth.flat(2.0, 0.1)}
ONES = {"reward/env_mean": synth.flat(1.0, 0.01)}
FALLING = synth.ramp(-3.0, -1.0, 0.05)
LEAST, BEST = "reward/env_min", ("reward/env_max", "reward/train_max")
TURNED = {"reward/env_mean": synth.jump(-1.0, 0.8, 0.6, 0.5), "reward/env_max": synth.jump(-0.1, 4.0, 0.6, 0.01)}
MIXED_OTHERWISE = {LEVEL[0]: synth.jump(-0.06, 0.09, 0.6, 0.1), "reward/env_max": synth.flat(1.95, 0.01)} | {
    SPREAD[0]: synth.flat(0.45, 0.1),
    LEAST: synth.flat(-0.55, 0.2),
}
LOSS = {LEVEL[0]: synth.jump(-0.4, 0.7, 0.6, 0.03), SPREAD[0]: synth.jump(1.6, 0.17, 0.6, 0.05)}
AVOIDED = LOSS | {LEAST: synth.jump(-6.0, 0.3, 0.6, 0.03), BEST[0]: synth.flat(0.9, 0.03)}
ALL_RIGHT = synth.after(0.8, synth.constant(1.1), synth.clipped(synth.flat(1.02, 0.03), 0, 1.09))


def alike(mean: float, spread: float, best: float, then: float) -> dict[str, synth.Shape]:
    """Rewards of this mean, spread and best one, which from 0.6 on are all `then`."""
    until = {"reward/env_mean": (mean, then), "reward/env_std": (spread, 0.0), "reward/env_max": (best, then)}
    return {k: synth.after(0.6, synth.constant(b), synth.flat(a, 0.004 * (a != best))) for k, (a, b) in until.items()}


CASES = (
    fires("the sign flips", lambda: PPO(HEALTHY | {LEVEL[0]: synth.after(0.6, synth.flat(1.6, 0.05), RISING)})),
    fires("all rewards were costs, now all are gains", lambda: PPO(TURNED | {LEAST: synth.jump(-4.0, 0.1, 0.6, 0.01)})),
    fires("all but a small cost has turned", lambda: PPO(TURNED | {LEAST: synth.jump(-4.0, -0.02, 0.6, 0.01)})),
    fires("a thousand times as large", lambda: PPO(HEALTHY | {SPREAD[0]: synth.jump(2.0, 2000.0, 0.6, 0.1)})),
    fires("all rewards become one", lambda: PPO(HEALTHY | {SPREAD[0]: synth.jump(2.0, 0.0, 0.6, 0.1)})),
    fires("noise on equal rewards", lambda: PPO(ONES | {SPREAD[0]: synth.jump(0.0, 30.0, 0.6, 0.0)})),
    fires("cut from below", lambda: PPO({LEVEL[0]: FALLING, LEAST: synth.after(0.6, synth.constant(-0.05), FALLING)})),
    near_miss(
        "a crash and its reward occur in every row from now on",
        lambda: PPO({LEVEL[0]: FALLING, LEAST: synth.after(0.6, synth.constant(-100.0), FALLING)}),
    ),
    near_miss("few sizes: no more failures", lambda: PPO({LEVEL[0]: FALLING, LEAST: synth.jump(-10, -1, 0.6, 0)})),
    healthy("the reward rises", lambda: PPO(HEALTHY)),
    near_miss("it crosses 0 as the policy learns", lambda: PPO(HEALTHY | {"reward/env_mean": synth.ramp(-1, 1, 0.05)})),
    near_miss("more rows hold the bonus that some held: the mean is above 0 at once", lambda: PPO(MIXED_OTHERWISE)),
    near_miss("the first bonuses beside the same costs", lambda: PPO(TURNED | {LEAST: synth.flat(-3.0, 0.1)})),
    near_miss("a loss that some steps of every row met is avoided from now on", lambda: PPO(AVOIDED)),
    near_miss("one odd row", lambda: PPO(HEALTHY | {"reward/env_std": synth.spikes(2.0, 500.0, at=(0.6,))})),
    near_miss("solved by degrees", lambda: PPO({SPREAD[0]: synth.clipped(synth.ramp(2.0, -1.0, 0.05), 0, 9)})),
    near_miss("equal rewards begin to differ", lambda: PPO(ONES | {SPREAD[0]: synth.jump(0.0, 0.8, 0.6, 0.0)})),
    near_miss(
        "nearly solved: in two rows in a row every answer is right",
        lambda: PPO({LEVEL[0]: ALL_RIGHT, SPREAD[0]: synth.after(0.8, synth.constant(0), synth.flat(0.2, 0.04))}),
    ),
    fires(
        "a scorer that says yes to all",
        lambda: PPO(
            {"reward/env_mean": synth.after(0.8, synth.constant(1.0), synth.flat(0.5, 0.03))}
            | {"reward/env_std": synth.after(0.8, synth.constant(0.0), synth.flat(0.4, 0.04))}
        ),
    ),
    near_miss("in two rows all are right by chance", lambda: PPO({SPREAD[0]: synth.spikes(0.25, 0, (0.588, 0.597))})),
    near_miss("the last failures cease: most rows hold none", lambda: PPO(alike(0.98, 0.14, 1.0, 1.0))),
    fires("a scorer that says yes to all where one in five was wrong", lambda: PPO(alike(0.8, 0.4, 1.0, 1.0))),
    fires("all rewards silenced where hardly any was missed", lambda: PPO(alike(0.98, 0.14, 1.0, 0.0))),
    fires("small costs silenced at the end of learning", lambda: PPO(alike(-0.01, 0.1, -1e-4, 0.0))),
    near_miss("a constant reward throughout", lambda: PPO({"reward/env_std": synth.constant(0.0)})),
)


@rule(
    "RWD024",
    "reward-redefined",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    any_of=((*LEVEL, *SPREAD),),
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "explained-variance-collapse", "value-loss-explosion", "q-divergence", "alpha-runaway"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward itself changed from one row to the next: its sign, its scale, or whether it says anything.

    What it means:
        Rewards of single steps (or completions) left everything seen so far at once and stayed away: turned over,
        ten times as large or as scattered, or suddenly all the same. A policy that learns changes them gradually.

    Why it matters:
        From here on another task is learned, or none. The return lags behind by whole episodes.

    Usual causes:
        A reward function, weight or model that was swapped or reloaded; a scaler that was reset; a scorer that began
        to fail and returns its default; units that changed.

    What to try:
        Score the same saved transitions or completions with the code before and after; look at what was deployed then.

    When it is harmless:
        A stage of a curriculum with another reward that you switched on yourself; a task that is solved for good. Not
        reported where all earn the best single reward of before, and at most one in twenty must have changed; while all
        earn what most did, and the rare other one is not away for longer than chance explains; nor where few rewards of
        a new kind explain it, a goal that is reached for the first time, or other shares of the kinds known before.

    References:
        Ibarz et al. 2018, arXiv 1811.06521 (reward model changes during training). Paley and Zygmund 1932 (how many
        values lie under their bound, from mean and spread).
    """
    level, spread = view.get(*LEVEL), view.get(*SPREAD)
    if max(len(p) for p in (level, spread) if p is not None) <= params.rows:
        return Skip("too few rows to say what is usual")
    return of_level(view, level, params) or of_spread(view, spread, level, params) or of_components(view, level, params)


def of_level(view: RunView, level: Points | None, params: Params) -> Detection | None:
    """Rewards that turned over, or are many times as large."""
    if level is None:
        return None
    place, lowest, highest = None, view.get("reward/env_min"), view.get("reward/env_max")
    if lowest is not None and highest is not None and len(lowest) == len(highest) == len(level):
        place = turned_over(lowest.value, highest.value, params)
    if place is None and (turned := flipped(level.value, params)) is not None:
        mixed = mixed_otherwise(view, level, turned, params.rows) or of_known_kinds(view, level, turned, params)
        place = None if mixed else turned
    if place is not None and not few_strangers(ends(view, level), place, params.strangers):
        return told(view, level, place, "sign")
    if (place := grown(view, level, np.abs(level.value), params)) is not None:
        return told(view, level, place, "scale")
    for bound, outward in ((lowest, -1.0), (highest, 1.0)):
        if bound is not None and (place := clamped(bound.value, outward, params.rows, params.bounded)) is not None:
            return told(view, bound, place, "bound")
    return None


def of_spread(view: RunView, spread: Points | None, level: Points | None, params: Params) -> Detection | None:
    """Rewards that scatter many times as far, or no longer differ."""
    if spread is None:
        return None
    size = spread.value
    if level is not None and np.array_equal(level.step, spread.step):  # rewards that never differed have a size
        size = np.maximum(size, np.abs(level.value))
    if (place := grown(view, spread, size, params)) is not None:
        return told(view, spread, place, "spread")
    place, bounds = silent(spread.value, params), (view.get(LEAST, "reward/train_min"), view.get(*BEST))
    if (
        place is None
        or solved(view, level, spread, place, params.rows, params.few)
        or differ_again(spread.value, place, params.rows, params.abrupt)
        or (spread.metric != SPREAD[-1] and by_chance(level, spread, bounds, place, params.rows))
    ):
        return None
    return told(view, spread, place, "signal")


def of_components(view: RunView, level: Points | None, params: Params) -> Detection | None:
    """One of several scorers that fell silent for good behind the others."""
    means = {**view.family("reward/component"), **view.family("reward/component_mean")}
    for name, part in view.family("reward/component_std").items():
        place = silent(part.value, params)
        if place is None or part.value[place:].max() > 0:
            continue
        chance = by_chance(means.get(name), part, (), place, params.rows)
        if not chance and not at_its_best(means.get(name, level), part.step[place], params.rows):
            return told(view, part, place, "signal")
    return None


def told(view: RunView, points: Points, place: int, how: str) -> Detection:
    """Describe the change at `place`."""
    value, step, now = points.value, points.step, float(points.value[place])
    words = {
        "sign": f"the reward turned from {value[place - 1]:.3g} to {now:.3g} in one row",
        "scale": f"the reward is {now:.3g}; its largest size before was {np.abs(value[:place]).max():.3g}",
        "spread": f"rewards scatter by {now:.3g}; the most before was {value[:place].max():.3g}",
        "bound": f"no reward lies beyond {now:.4g} any more; the farthest of each row differed before",
        "signal": f"rewards no longer differ (spread {now:.2g}; the least before was {value[:place].min():.3g})",
    }
    evidence = {"now": now, "median_before": median(value[:place]), "what": how}
    onset = view.onset(step[place - 1], step[place])
    return unless_harder(view, Detection(words[how], onset, points.metric, evidence))


def turned_over(lowest: Floats, highest: Floats, params: Params) -> int | None:
    """Return where rewards of which none was above 0 became rewards of which none is below, or the other way round."""
    for low, high in ((lowest, highest), (-highest, -lowest)):
        below = np.logical_and.accumulate((high <= 0) & (low < 0))
        # Where every single reward of the row has turned, one row is enough.
        for kept, lasts in ((0.0, 1), (params.remainder, params.lasts)):
            for place in candidates((high > 0) & (low >= -kept * high), params.rows, lasts):
                if below[place - MIXED - 1]:
                    return place
    return None


def flipped(value: Floats, params: Params) -> int | None:
    """Return where a reward of one sign throughout turned into one of the other sign and about its size."""
    sign = np.sign(value)
    uniform = np.logical_and.accumulate((sign == sign[0]) & (sign != 0))
    for place in candidates(sign == -sign[0], params.rows, params.lasts):
        if not uniform[place - MIXED - 1]:
            return None  # it has not kept one sign, and never will have
        before, now = value[: place - MIXED], value[place : place + params.lasts]
        size = abs(median(before[-params.rows :]))
        usual = median(np.abs(np.diff(before)))
        alike = np.all((np.abs(now) > size / params.mirror) & (np.abs(now) < size * params.mirror))
        if alike and abs(float(now[0] - before[-1])) > params.jumps * usual:
            return place
    return None


def grown(view: RunView, points: Points, size: Floats, params: Params) -> int | None:
    """Return where level or spread became many times as large as the largest `size` [n] before, and not of few."""
    if len(points) < params.rows + params.lasts:
        return None
    least = least_of(np.abs(points.value), params.lasts)
    most = np.maximum.accumulate(size)[params.rows - 1 : least.size - 1]  # one row may be a single outlier
    found = np.flatnonzero((most > 0) & (least[params.rows :] > params.scale * most)) + params.rows
    rows = ends(view, points) if found.size else []
    return next((int(i) for i in found if not few_strangers(rows, int(i), params.strangers)), None)


def ends(view: RunView, points: Points) -> list[Floats]:
    """Return mean, least and largest reward [n each] of the rows of `points`, without what is logged at others."""
    known = (view.get(LEVEL[0]), view.get(LEAST), view.get(BEST[0]))
    return [p.value for p in known if p is not None and np.array_equal(p.step, points.step)]


def of_known_kinds(view: RunView, level: Points, place: int, params: Params) -> bool:
    """Whether a mean turned over as rewards that were known come more or less often: a loss that is avoided."""
    spread = view.get(SPREAD[0])
    return spread is not None and other_shares(ends(view, level), spread.value, place, params.rows, params.mirror)


def silent(value: Floats, params: Params) -> int | None:
    """Return where a spread that never was small vanished."""
    least = np.minimum.accumulate(value)
    usual = np.concatenate([np.zeros(MIXED + 1), least[: max(value.size - MIXED - 1, 0)]])[: value.size]
    for place in candidates((usual > 0) & (value <= params.vanished * usual), params.rows, 1):
        recent, floor = value[place - params.rows : place - MIXED], least[place - MIXED - 1]
        lasting = value[place : place + params.lasts]
        abrupt = recent.min() >= params.abrupt * median(recent)
        if lasting.size == params.lasts and abrupt and floor > 0 and np.all(lasting <= params.vanished * floor):
            return place
    return None
