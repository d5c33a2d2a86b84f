"""The rule `rewards-begin-to-repeat`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.stats.change import largest_of
from firstbreak.view import RunView

SIZES, HELD, SURPRISE = "reward/env_distinct_frac", "env/held_frac", "env/dynamics_surprise"


@dataclass(frozen=True)
class Params:
    """Thresholds of `rewards-begin-to-repeat`. Engineering defaults; what repeats is counted exactly. Of 252 recorded
    runs that log it (live lists and development half, 2026-11-26) six show it, three with a fault of the reward and
    three with one of the environment, which the conditions on the world set apart; no run without a fault does."""

    rows: int = 16
    """Earlier rows, each of 64 steps or more, in which no two steps had earned the same."""
    alike: float = 0.9
    """Share of different rewards that is no longer reached ..."""
    lasts: int = 3
    """... in so many rows in a row. A policy that comes to a bound of the reward by degrees repeats a few first."""


PPO = synth.like("PPO")
REPEATS = {SIZES: synth.jump(1.0, 0.3, 0.6, 0.0), HELD: synth.constant(0.0), SURPRISE: synth.flat(0.9, 0.1)}
CASES = (
    fires("nothing is paid until the end", lambda: PPO(REPEATS)),
    healthy("each step earns its own", lambda: PPO(REPEATS | {SIZES: synth.constant(1.0)})),
    near_miss(
        "a policy comes to a bound by degrees", lambda: PPO(REPEATS | {SIZES: synth.ramp(1.0, 0.3, 0.0, begin=0.4)})
    ),
    near_miss("a reward of few sizes", lambda: PPO(REPEATS | {SIZES: synth.jump(0.6, 0.3, 0.6, 0.0)})),
    near_miss("the world stands still", lambda: PPO(REPEATS | {HELD: synth.jump(0.0, 0.7, 0.6, 0.0)})),
    near_miss("actions do something else", lambda: PPO(REPEATS | {SURPRISE: synth.jump(0.9, 9.0, 0.6, 0.1)})),
    near_miss("one row", lambda: PPO(REPEATS | {SIZES: synth.spikes(1.0, -0.7, (0.6,), 0.0)})),
)


@rule(
    "RWD107",
    "rewards-begin-to-repeat",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(SIZES,),
    when=("control",),
    min_points=19,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "explained-variance-collapse", "critic-not-learning", "reward-moves-at-once"),
)
def detect(view: RunView, params: Params) -> Answer:
    """No two steps had ever earned the same; from one row on many do, and the world moves on as before.

    What it means:
        The reward had a size of its own at every step of all earlier rows. Now the same numbers come again and again,
        though what the environment shows follows from the actions as it did, and does not stand still.

    Why it matters:
        Part of the signal is gone: another task is learned, or the same one with far less said about it.

    Usual causes:
        Rewards that are paid at the end, kept back or paid late, with zeros between; a term that was dropped; a clip, a
        rounding or a quantiser put over the reward; a scorer that answers its default for some.

    What to try:
        Score the same saved transitions with the code before and after; list the numbers that repeat.

    When it is harmless:
        A stage of a curriculum with another reward that you switched on yourself: log `env/curriculum`. A policy that
        learns to stay where the reward has a bound comes there by degrees, and is not reported.

    References:
        Ng, Harada and Russell 1999 (what a sparse reward keeps of a dense one).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    sizes = view.get(SIZES)
    assert sizes is not None
    value = sizes.value
    if value.size < params.rows + params.lasts:
        return Skip("too few rows to say what is usual")
    found = np.flatnonzero(largest_of(value, params.lasts)[params.rows :] <= params.alike) + params.rows
    # The row just before may hold both.
    if not found.size or (value[: (place := int(found[0])) - 1] < 1).any():
        return None
    since, until = float(sizes.step[place]), float(sizes.step[place + params.lasts - 1])
    if _world_changed(view, since, until):
        return None
    return Detection(
        message=f"steps begin to earn the same: {1 - value[place]:.0%} of a row repeat; in {place - 1} rows none did",
        onset=view.onset(float(sizes.step[place - 1]), since),
        metric=SIZES,
        evidence={"distinct_frac": float(value[place]), "rows_before": place - 1},
    )


def _world_changed(view: RunView, since: float, until: float) -> bool:
    """Whether observations stand still, or follow from actions worse than ever, from step `since` to `until`."""
    for name in (HELD, SURPRISE):
        points = view.get(name)
        if points is None:
            continue
        before = points.value[points.step < since][:-1]
        now = points.value[(points.step >= since) & (points.step <= until)]
        if before.size and now.size and median(now) > before.max():
            return True
    return False
