"""The rule `reward-outgrows-bound`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats.change import least_of
from firstbreak.view import Points, RunView

LEAST, MOST = "reward/env_min", "reward/env_max"
SEEN = "obs/scale_median"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-outgrows-bound`. Of 1,065 recorded runs (development half and live campaigns, corpus of
    2026-11-26) no unbroken one has five rows on end above a bound that stood, whether rewards grow there or not."""

    rows: int = 32
    """Earlier rows, each of 64 steps or more: the bound was there in the first half of them."""
    lasts: int = 5
    """Rows in a row in which a step is paid more than that."""
    beyond: float = 0.02
    """Share of the range of rewards by which each of them is above it, and next to which a row came up to it."""
    reached: float = 0.5
    """Share of the rows of the second half that came up to it: a bound is met again and again, a record is not."""
    passed: int = 4
    """Rows of the second half that may be above it: what grows begins with little."""
    grows: int = 4
    """Of the rows above, the last included, so many hold a record, each `beyond` above the last: one more prize, or
    another scale, is paid at once."""
    first: float = 0.5
    """Share of the range by which the first row above the bound is above it, at most: what grows begins with little."""
    sizes: int = 24
    """Different extremes of rows before: of few sizes are prizes, and one more, paid for haste, is an achievement."""
    moved: float = 1.0
    """Share of the range of observations' sizes before, by which they leave it: a policy goes where it never was."""


PPO = synth.like("PPO")


def at_most(bound: float, until: float = 1.0, grown: float = 0.0) -> synth.Shape:
    """Each row comes up to `bound` but for a thousandth; from time `until` on a step is paid ever more."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        more = np.clip((t - until) / 0.4, 0, None) * grown
        return bound - 1e-3 * rng.random(t.size) + more

    return shape


LOWEST = synth.clipped(synth.flat(0.2, 0.5), 0, 1)
PAID = {LEAST: LOWEST, MOST: at_most(1.0)}
CREEPS = {LEAST: LOWEST, MOST: at_most(1.0, 0.6, 20.0)}
CASES = (
    fires("what is paid for standing still creeps up", lambda: PPO(CREEPS)),
    healthy("one is the most that a step pays", lambda: PPO(PAID)),
    near_miss("another prize is found", lambda: PPO(PAID | {MOST: synth.jump(1.0, 1.4, at=0.6, noise=0.0)})),
    near_miss("a single record", lambda: PPO(PAID | {MOST: synth.spikes(1.0, 3.0, at=(0.6,), noise=0.0)})),
    near_miss("a reward that learning raises throughout", lambda: PPO(PAID | {MOST: synth.ramp(0.3, 3.0, 0.01)})),
    near_miss("noise has no bound", lambda: PPO(PAID | {MOST: synth.ramp(1.0, 1.6, 0.2, begin=0.6)})),
    near_miss(
        "a first success, and ever sooner ones",
        lambda: PPO({LEAST: synth.constant(0.0), MOST: synth.ramp(0.0, 0.9, 0.0, begin=0.6, until=0.9)}),
    ),
    near_miss(
        "a policy that learns to run, and sees other things",
        lambda: PPO(CREEPS | {SEEN: synth.jump(1.0, 9.0, at=0.6)}),
    ),
    near_miss("a curriculum", lambda: PPO(CREEPS | {"env/curriculum@level": synth.ramp(0, 9, 0.0, begin=0.5)})),
)


@rule(
    "RWD095",
    "reward-outgrows-bound",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(LEAST, MOST),
    when=("control",),
    min_points=37,
    params=Params(),
    cases=CASES,
    implies=("reward-scale-jumps", "explained-variance-collapse", "value-loss-explosion", "values-jump"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A step is paid ever more, above a bound that rewards had met again and again and never passed.

    What it means:
        For most of the run the best step of a row came up to one and the same number. Now every row holds a step above
        it, each a little more than the last, and the policy sees what it saw before.

    Why it matters:
        The return rises, so that nothing looks wrong. What it rises by is not what the task is about, and the policy
        learns to earn that instead.

    Usual causes:
        A bonus, penalty or weight of a term that a schedule raises and does not stop; a counter that is not reset; a
        reward that is added to a buffer in place; a normaliser that divides by ever less.

    What to try:
        Score the same saved transitions with the reward code of before and of now, term by term.

    When it is harmless:
        A weight that you raise on purpose: log it as `env/curriculum`. A policy that breaks through to behaviour it had
        never shown, where observations keep their size.

    References:
        None; rewards are compared with their own bound.
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes what is paid")
    low, high = view.get(LEAST), view.get(MOST)
    assert low is not None
    assert high is not None
    value, count = high.value, high.value.size
    if len(low) != count or count < params.rows + params.lasts:
        return Skip("too few rows to say what is paid")
    half = params.rows // 2
    if float(value[half:].max()) <= float(value[:half].max()):
        return None  # nothing was passed at any time
    most, least = np.maximum.accumulate(value), np.minimum.accumulate(low.value)
    places = np.arange(params.rows, count - params.lasts + 1)
    bound = most[places // 2 - 1]
    size = bound - least[places - 1]
    now = least_of(value, params.lasts)[params.rows :]
    for place in places[(now > bound + params.beyond * size) & (size > 0)].tolist():
        kept, wide = float(bound[place - params.rows]), float(size[place - params.rows])
        onset = creeps(value, place, kept, wide, params)
        if onset is None or np.unique(np.append(value[:onset], low.value[:onset])).size <= params.sizes:
            continue
        last = float(high.step[place + params.lasts - 1])
        if sees_otherwise(view.get(SEEN), float(high.step[onset - params.lasts]), last, params):
            continue
        return Detection(
            message=f"steps are paid {value[place + params.lasts - 1]:.4g} and more; {kept:.4g} was the most for long",
            onset=view.onset(float(high.step[onset - 1]), float(high.step[onset])),
            metric=MOST,
            evidence={"bound": kept, "now": float(value[place + params.lasts - 1]), "range": wide},
        )
    return None


def creeps(value: Floats, place: int, bound: float, size: float, params: Params) -> int | None:
    """Return the first row above a bound that `value` [n] had met again and again, where it now creeps up from it."""
    before, bar = value[place // 2 : place], bound + params.beyond * size
    above = np.flatnonzero(before > bar)
    met = np.count_nonzero(np.abs(before - bound) <= params.beyond * size)
    if above.size > params.passed or met < params.reached * before.size:
        return None
    onset = place // 2 + int(above[0]) if above.size else place
    now = value[onset : place + params.lasts]
    highest = np.maximum.accumulate(np.append(bound, now))
    records = np.count_nonzero(now > highest[:-1] + params.beyond * size)
    return onset if records >= params.grows and now[0] <= bound + params.first * size else None


def sees_otherwise(points: Points | None, since: float, last: float, params: Params) -> bool:
    """Whether observations are of another size between the steps `since` and `last` than at any time before."""
    if points is None:
        return False
    before, now = points.value[points.step < since], points.value[(points.step >= since) & (points.step <= last)]
    if not before.size or not now.size:
        return False
    slack = params.moved * float(np.ptp(before))
    return bool(now.max() > before.max() + slack or now.min() < before.min() - slack)
