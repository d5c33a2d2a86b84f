"""The rule `reward-recast`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import candidates
from firstbreak.series import Floats
from firstbreak.stats.change import least_of
from firstbreak.view import RunView

MEAN, LEAST, MOST = "reward/env_mean", "reward/env_min", "reward/env_max"
SIZES = "reward/env_distinct_frac"
MIXED = 1
"""Rows before a change that are left out: the change falls within a row, which then holds both."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-recast`. Engineering defaults."""

    rows: int = 8
    """Earlier rows, each of 64 steps or more, that say which signs there were: the shortest with a stated error."""
    turned: int = 3
    """Rows in a row that must earn gains where there were costs only. None of 487 healthy runs of the benchmarks (dev
    half and twins of the live campaigns, 2026-11-25) has three."""
    sized: int = 16
    """Earlier rows in which something was earned, that say how many sizes a reward has. Rows of zeros alone say
    nothing of it: what scales a rare reward, or adds to it in proportion, is 0 until the first is found."""
    few: float = 0.15
    """Most different rewards a step, in any of them, for rewards to be of few sizes: ten in a row of 64."""
    many: float = 0.4
    """Different rewards a step from which on they are of any size."""
    lasts: int = 2
    """Rows in a row that must hold so many."""


PPO = synth.like("PPO")
COSTS = {MEAN: synth.ramp(-2.0, -0.2, 0.05), LEAST: synth.ramp(-3.0, -0.4, 0.05), MOST: synth.ramp(-0.5, -0.05, 0.05)}
NOW = {MEAN: synth.flat(0.1, 0.2), LEAST: synth.flat(-0.1, 0.1), MOST: synth.flat(1.2, 0.1)}
BONUS = {MEAN: synth.flat(1.0, 0.2), LEAST: synth.flat(-3.2, 0.05), MOST: synth.flat(9.0, 0.1)}
TURNED = {name: synth.after(0.6, NOW[name], shape) for name, shape in COSTS.items()}
FEW = synth.clipped(synth.flat(0.05, 0.2), 0.016, 0.1)
NOTHING = {
    LEAST: synth.after(0.6, synth.flat(-0.01, 0.1), synth.constant(0.0)),
    MOST: synth.after(0.6, synth.flat(0.02, 0.1), synth.constant(0.0)),
}
CASES = (
    fires("distance is paid where it was a cost; effort still costs", lambda: PPO(TURNED)),
    fires("a reward of three sizes takes any", lambda: PPO({SIZES: synth.after(0.6, synth.flat(0.7, 0.1), FEW)})),
    healthy("costs shrink as the task is learned", lambda: PPO(COSTS)),
    healthy("a reward of few sizes throughout", lambda: PPO({SIZES: FEW})),
    near_miss(
        "a bonus is found, and most steps earn it; the worst costs are as before",
        lambda: PPO({name: synth.after(0.6, BONUS[name], shape) for name, shape in COSTS.items()}),
    ),
    near_miss("it was of any size from the start", lambda: PPO({SIZES: synth.clipped(synth.flat(0.8, 0.2), 0, 1)})),
    near_miss(
        "a first success, of a reward that is 0 before and scattered in proportion since",
        lambda: PPO({SIZES: synth.after(0.6, synth.flat(0.7, 0.1), FEW), **NOTHING}),
    ),
    near_miss("one odd row", lambda: PPO({SIZES: synth.spikes(0.05, 0.8, (0.6,), 0.1)})),
    near_miss("more sizes, by degrees", lambda: PPO({SIZES: synth.ramp(0.02, 0.6, 0.02)})),
)


@rule(
    "RWD049",
    "reward-recast",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    any_of=((MEAN, SIZES),),
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "explained-variance-collapse", "value-loss-explosion", "q-divergence", "alpha-runaway"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward became one of another kind: what only cost is paid for, or what took few sizes takes any.

    What it means:
        Of all steps so far none had earned more than 0; now most do, and the worst costs less than ever. Or rewards
        took a handful of sizes in all earlier rows, and now many steps earn one of their own.

    Why it matters:
        From here on another task is learned. A policy that learns moves within a reward; it does not change its kind.

    Usual causes:
        The sign of one term; a cost and a gain exchanged; another reward function or model, a normaliser, or noise put
        in the place of the one before.

    What to try:
        Score the same saved transitions with the code before and after; look at what was deployed then.

    When it is harmless:
        A stage of a curriculum with another reward that you switched on yourself: log `env/curriculum`.

    References:
        Pan et al. 2022, arXiv 2201.03544 (what policies make of a reward that was put together wrongly).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    mean, least, most, sizes = view.get(MEAN), view.get(LEAST), view.get(MOST), view.get(SIZES)
    if mean is not None and least is not None and most is not None and len(mean) == len(least) == len(most):
        columns = np.stack((mean.value, least.value, most.value))
        for gains in (columns, -columns[[0, 2, 1]]):
            place = paid(gains, params)
            if place is not None:
                before, now = float(mean.value[place - MIXED - 1]), float(mean.value[place])
                return Detection(
                    message=f"no step had earned {'more' if now > 0 else 'less'} than 0; now the mean is {now:.3g}",
                    onset=view.onset(float(mean.step[place - 1]), float(mean.step[place])),
                    metric=MEAN,
                    evidence={"mean_before": before, "now": now},
                )
    if sizes is None or len(sizes) < params.sized + params.lasts:
        return None
    value = sizes.value
    begins = least_of(value, params.lasts)[params.sized :] >= params.many
    earned = np.cumsum(~np.isin(sizes.step, nothing_earned(view)))[params.sized - MIXED - 1 :][: begins.size]
    enough = earned >= params.sized - MIXED
    found = np.flatnonzero(begins & few_before(value, params)[: begins.size] & enough)
    if not found.size:
        return None
    place = int(found[0]) + params.sized
    return Detection(
        message=f"{value[place]:.0%} of steps earn another reward each; it took few sizes before",
        onset=view.onset(float(sizes.step[place - 1]), float(sizes.step[place])),
        metric=SIZES,
        evidence={"distinct_frac": float(value[place]), "most_before_frac": float(value[: place - MIXED].max())},
    )


def paid(gains: Floats, params: Params) -> int | None:
    """Return the row from which most steps earn something where none had, and the worst costs less than ever.

    Args:
        gains: Mean, least and most of each row's rewards [3, n].
    """
    mean, least, most = gains
    size = -least
    mild = np.concatenate([np.full(MIXED + 1, -np.inf), np.minimum.accumulate(size)])[: size.size]
    only_costs = np.logical_and.accumulate((most <= 0) & (least < 0))
    for place in candidates((mean > 0) & (size < mild), params.rows + MIXED, params.turned):
        calm = np.all(size[place : place + params.turned] < mild[place])
        if only_costs[place - MIXED - 1] and calm:
            return place
    return None


def nothing_earned(view: RunView) -> Floats:
    """Return the steps of rows whose rewards were all 0."""
    least, most = view.get(LEAST), view.get(MOST)
    if least is None or most is None:
        return np.empty(0)
    return np.intersect1d(least.step[least.value == 0], most.step[most.value == 0])


def few_before(value: Floats, params: Params) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return for each row from `sized` on whether all rows before it, but for the last, held few sizes."""
    return np.maximum.accumulate(value)[params.sized - MIXED - 1 :] <= params.few
