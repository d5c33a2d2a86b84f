"""The rule `replay-unlike-world`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.stats.change import largest_of, least_of
from firstbreak.view import Points, RunView

SAMPLED, MET, SPREAD = "reward/step_mean", "reward/env_mean", "reward/env_std"
LEAST, MOST = "reward/env_min", "reward/env_max"
ROUNDED = 1e-6
"""Share of a mean by which a batch of numbers of single precision may miss it, all of which are alike: a few roundings
of 6e-8 each."""
GAUSSIAN = 1.4826
"""Standard deviations of a Gaussian in one median absolute deviation."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `replay-unlike-world`. Of 464 recorded runs with a replay buffer (development half and live
    campaigns, corpus of 2026-11-26) no unbroken one passes them, and the nearest reaches 0.7 of them."""

    rows: int = 24
    """Rows of samples before it is asked."""
    shortest: int = 4
    """Rows of the world that a buffer holds at least: one that holds less is no replay."""
    opening: int = 8
    """First rows, of which a sample may be all there is."""
    gap: int = 8
    """Rows just before that say nothing of what is usual: what narrows begins with little."""
    lasts: int = 4
    """Samples in a row that must lie outside, on the same side."""
    times: float = 1.5
    """Times the farthest that any earlier sample lay outside: by chance, or as it is not drawn evenly by intent."""
    spreads: float = 3.0
    """Spreads of one sample from the next by which each lies outside."""
    late: int = 32
    """Samples that say what that spread is."""
    batch: int = 144
    """Steps of a batch at most, for the least of that spread: a mean of n spreads by the root of n less."""
    paid: float = 0.1
    """Share of the range of rewards by which the world's leave it: then it is what is paid that changed."""


SAC = synth.like("SAC")
PAID = {LEAST: synth.flat(0.0, 0.01), MOST: synth.flat(1.0, 0.01), SPREAD: synth.flat(0.3, 0.1)}
LEARNS = synth.ramp(0.2, 0.8, 0.03, until=0.4)
FOLLOWS = synth.ramp(0.2, 0.7, 0.03, until=0.8)
NARROWS = synth.after(0.6, synth.ramp(1.0, 0.2, 0.03, begin=0.5, until=0.8), FOLLOWS)
LAGS = synth.after(0.6, synth.ramp(0.62, 0.35, 0.03, begin=0.6), synth.ramp(0.2, 0.62, 0.03, until=0.6))
RESCORED = synth.after(0.6, synth.flat(0.2, 0.05), FOLLOWS)
ALIKE = {LEAST: synth.constant(-0.1), MOST: synth.constant(-0.1), SPREAD: synth.constant(0.0)}
ROUNDING = synth.after(0.6, synth.constant(-0.1 * (1 + 3e-8)), synth.constant(-0.1))
CASES = (
    fires("ever fewer episodes are drawn", lambda: SAC(PAID | {MET: LEARNS, SAMPLED: NARROWS})),
    healthy("samples lag behind the world", lambda: SAC(PAID | {MET: LEARNS, SAMPLED: FOLLOWS})),
    near_miss(
        "the policy collapses, and samples follow late",
        lambda: SAC(PAID | {MET: synth.after(0.6, synth.flat(0.1, 0.1), LEARNS), SAMPLED: LAGS}),
    ),
    near_miss(
        "the buffer holds demonstrations",
        lambda: SAC(PAID | {MET: LEARNS, SAMPLED: synth.flat(0.95, 0.02)}),
    ),
    near_miss(
        "a single odd batch", lambda: SAC(PAID | {MET: LEARNS, SAMPLED: synth.spikes(0.6, 0.05, at=(0.6,), noise=0.05)})
    ),
    near_miss(
        "rewards are others",
        lambda: SAC(PAID | {MET: LEARNS, SAMPLED: RESCORED, LEAST: synth.jump(0.0, -5.0, at=0.6, noise=0.01)}),
    ),
    near_miss(
        "all rewards are alike, and their means are rounded once more",
        lambda: SAC(ALIKE | {MET: synth.constant(-0.1), SAMPLED: ROUNDING}),
    ),
    near_miss(
        "a curriculum",
        lambda: SAC(PAID | {MET: LEARNS, SAMPLED: NARROWS, "env/curriculum@level": synth.ramp(0, 9, 0.0, begin=0.5)}),
    ),
)


@rule(
    "DAT045",
    "replay-unlike-world",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(SAMPLED, MET, SPREAD, LEAST, MOST),
    when=("control", "replay"),
    min_points=28,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "return-falls-at-once", "values-jump"),
)
def detect(view: RunView, params: Params) -> Answer:
    """What is drawn from the replay buffer earns what no stretch of the run up to now has earned.

    What it means:
        A batch that is drawn evenly from the last steps, however many they are, earns on average what those steps
        earned. For several batches on end no such number of steps exists, and before there was one.

    Why it matters:
        What is learned from is not what was played: the critic comes to know a corner of the world, and the policy
        follows it there. The return tells only later.

    Usual causes:
        An index that does not run over the whole buffer; a buffer that keeps or drops one kind of episode; priorities
        that hold on to a few steps; rewards that are changed after they were stored.

    What to try:
        Draw 10,000 steps and compare their ages and rewards with those of the whole buffer.

    When it is harmless:
        Prioritised replay that begins to prefer some steps on purpose; demonstrations that are added on the way.

    References:
        Lin 1992, "Self-improving reactive agents based on reinforcement learning, planning and teaching" (replay);
        Schaul et al. 2016, arXiv:1511.05952, section 3.4 (what is drawn unevenly is biased).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes what is paid")
    sampled, met, spread = view.get(SAMPLED), view.get(MET), view.get(SPREAD)
    assert sampled is not None
    assert met is not None
    assert spread is not None
    count = sampled.value.size
    if count < params.rows + params.lasts or len(met) < params.shortest:
        return Skip("too few samples to say what is usual")
    off = outside(sampled, met, params)
    now = np.maximum(least_of(off, params.lasts), -largest_of(off, params.lasts))[params.rows :]
    usual = np.maximum.accumulate(np.abs(off[params.opening :]))
    bar = params.times * usual[params.rows - params.gap - params.opening - 1 :][: now.size]
    fine = float(spread.value.mean()) / params.batch**0.5
    for place in (np.flatnonzero((now > bar) & (now > params.spreads * fine)) + params.rows).tolist():
        until = place - params.gap
        step = np.diff(sampled.value[max(until - params.late, 0) : until])
        if now[place - params.rows] <= params.spreads * GAUSSIAN / 2**0.5 * median(np.abs(step)):
            continue
        if paid_otherwise(view, float(sampled.step[until]), float(sampled.step[place + params.lasts - 1]), params):
            continue
        drawn = float(sampled.value[place])
        return Detection(
            message=f"batches earn {drawn:.4g} a step; any last steps of the run earned {drawn - off[place]:.4g}",
            onset=view.onset(float(sampled.step[place - 1]), float(sampled.step[place])),
            metric=SAMPLED,
            evidence={
                "drawn": drawn,
                "nearest": drawn - float(off[place]),
                "farthest_before": float(bar[place - params.rows]) / params.times,
            },
        )
    return None


def outside(sampled: Points, met: Points, params: Params) -> Floats:
    """Return how far each sample's mean [n] lies outside the means of the last rows of the world, however many."""
    total = np.append(0.0, np.cumsum(met.value))
    ends = np.searchsorted(met.step, sampled.step, side="right")
    known = np.maximum(ends, 1)
    low, high = np.full(ends.size, np.inf), np.full(ends.size, -np.inf)
    length = params.shortest
    while True:
        begins = np.maximum(known - length, 0)
        mean = (total[known] - total[begins]) / (known - begins)
        low, high = np.minimum(low, mean), np.maximum(high, mean)
        if length >= len(met):
            break
        length *= 2
    off = np.minimum(sampled.value - low, 0) + np.maximum(sampled.value - high, 0)
    known_apart = np.abs(off) > ROUNDED * np.abs(sampled.value)
    return np.where((ends >= 2 * params.shortest) & known_apart, off, 0.0)


def paid_otherwise(view: RunView, since: float, last: float, params: Params) -> bool:
    """Whether between the steps `since` and `last` the world pays more or less than ever before."""
    low, high = view.get(LEAST), view.get(MOST)
    if low is None or high is None:
        return True
    before = [points.value[points.step < since] for points in (low, high)]
    now = [points.value[(points.step >= since) & (points.step <= last)] for points in (low, high)]
    if not all(values.size for values in (*before, *now)):
        return True
    slack = params.paid * (float(before[1].max()) - float(before[0].min()))
    return bool(now[0].min() < before[0].min() - slack or now[1].max() > before[1].max() + slack)
