"""The rule `reward-flat`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import (
    LEAST,
    OBJECTIVE,
    TRAIN,
    TRUTH,
    ended,
    from_start,
    moved,
    progress,
    rises,
    starts_late,
)
from firstbreak.series import Floats
from firstbreak.stats import linear_trend, median
from firstbreak.view import RunView

LATE = "past_half"
"""Evidence: whether half of the configured steps have passed (asked for by `firstbreak.unlocated`)."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-flat`. Engineering defaults where no source is named."""

    rows: int = 30
    """Rows that a statement about a missing trend needs."""
    z: float = 2.0
    """Standard errors within which level and slope count as unchanged."""
    hint: float = 1.0
    """Standard errors of a rise that keep it from being said late in a run: what may be a rise is not called none."""
    blocks: int = 8
    """Parts of the run whose medians tell a level that stays from one that goes up and comes down again."""
    wander: float = 1.0
    """Distance of the highest from the lowest of them, over the level of the run, from which it has moved: runs of the
    development half that stay where they are have up to 0.6, those that rise and fall 1.4 and more."""
    noise: float = 6.0
    """The same in standard errors of such a median, by the differences of neighbouring rows."""
    done_share: float = 0.5
    """Share of the configured steps from which no progress keeps a run from being called healthy; before it, only a
    log that is over gets a note."""


PPO = synth.like("PPO")
HALF = synth.like("PPO", config={"total_steps": 120}, clock="env_steps")
FLAT = {"reward/episode_return_mean": synth.walk(21, 1.5, rho=0.3)}


def held(t: Floats, rng: np.random.Generator) -> Floats:
    """A return that is measured every eighth row and repeated in between."""
    return (21 + 1.5 * rng.standard_normal(t.size))[(np.arange(t.size) // 8) * 8]


def there_and_back(t: Floats, rng: np.random.Generator) -> Floats:
    """A return that is learned by the middle of the run and lost by its end."""
    return 21 + 150 * np.sin(np.pi * np.clip((t - 0.2) / 0.6, 0, 1)) ** 2 + rng.standard_normal(t.size)


CASES = (
    fires("never moves", lambda: PPO(FLAT)),
    fires("never moves over the whole budget", lambda: HALF(FLAT)),
    healthy("return rises", lambda: PPO({})),
    near_miss("slow but real rise", lambda: PPO({"reward/episode_return_mean": synth.ramp(20, 26, 0.03)})),
    near_miss(
        "rises, and falls back to where it began",
        lambda: HALF({"reward/episode_return_mean": there_and_back}),
    ),
    near_miss("what may be a rise", lambda: HALF({"reward/episode_return_mean": synth.ramp(20, 22, 0.15)})),
    near_miss("measured fifteen times only", lambda: HALF({"reward/episode_return_mean": held})),
    near_miss(
        "first successes late", lambda: PPO({"reward/episode_return_mean": synth.ramp(20, 200, 0.02, begin=0.2)})
    ),
)


@rule(
    "RWD002",
    "reward-flat",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    any_of=(TRAIN,),
    min_points=30,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward has not moved since the start.

    What it means:
        Neither the level of the recent stretch nor the slope over the whole run differs from zero change, beyond the
        noise of the log.

    Why it matters:
        It is the commonest complaint and the least specific symptom: any link of the loop can cause it. The other
        findings say which; this one says when it stops being normal.

    Usual causes:
        No signal in the reward; task too hard; step size far too small; critic or advantages wrong; data not from the
        policy.

    What to try:
        Train on an easier task or on the test set: if the reward rises there, data and difficulty are the problem; if
        not, the trainer is.

    When it is harmless:
        Early in a run, in sparse tasks before the first success, and at the optimum. It is a note always, for a sound
        training that is too short for its task looks alike: of 19 recorded runs that were flat beyond half of their
        steps (live lists and development half, 2026-11-26) seven had no fault and two none yet, and none had the six
        drawn trainings that it warned of. Past half of the configured steps a run with nothing beside it is undecided.

    References:
        AReaL, "Diagnosing RL performance" (rewards not increasing).
    """
    reward = view.get(*TRAIN)
    assert reward is not None
    if len(reward) < params.rows or reward.max == reward.min or starts_late(reward):
        return None
    if (count := measured(reward.value)) < params.rows:
        return Skip(f"the reward was measured {count} times; the other rows repeat it")
    line = linear_trend(reward.step, reward.value)
    if rises(reward, params.z) or abs(line.z) > params.z or abs(moved(reward).z) > params.z:
        return None
    if any(rises(view.get(name), params.z) for name in TRUTH) or solved(view):
        return None
    if wanders(reward.value, params):
        return Skip("the reward goes up and comes down again by more than its size", withholds=True)
    share = progress(view)
    late = share is not None and share >= params.done_share
    hint = line.z > params.hint or rises(reward, params.hint)
    if hint if late else not ended(view):
        return None
    return Detection(
        message=f"reward unchanged over {len(reward)} rows ({line.start:.4g} to {line.end:.4g}, z {line.z:.1f})",
        onset=from_start(view, reward),
        metric=reward.metric,
        evidence={
            "start": line.start,
            "end": line.end,
            "z": line.z,
            "share_of_run": -1.0 if share is None else share,
            LATE: late,
        },
    )


def wanders(value: Floats, params: Params) -> bool:
    """Whether the level [n] went somewhere in between, though it ends where it began: no trend then, but not flat."""
    levels = np.array([median(part) for part in np.array_split(value, params.blocks)])
    span = float(levels.max() - levels.min())
    # 0.6745 and 1.25: median of the absolute and error of the median, for a Gaussian.
    rows = float(np.median(np.abs(np.diff(value)))) / (0.6745 * np.sqrt(2.0))
    error = 1.25 * rows / np.sqrt(value.size / params.blocks)
    return span > params.wander * abs(median(value)) and span > params.noise * error


def measured(value: Floats) -> int:
    """How often the reward was measured: a row that repeats the one before is none, except at the worst or the best,
    where a sparse or a solved task stays."""
    edge = (value == value.min()) | (value == value.max())
    return 1 + int(np.count_nonzero((np.diff(value) != 0) | edge[1:]))


def solved(view: RunView) -> bool:
    """Whether a success measure says that there is nothing left to gain."""
    for name in ("group/all_solved_fraction", "reward/success_rate", *OBJECTIVE):
        points = view.get(name)
        if points is not None and len(points) and median(points.value[-LEAST:]) >= 0.9:
            return True
    reward, best = view.get(*TRAIN), view.number("reward_max")
    return reward is not None and best is not None and median(reward.value[-LEAST:]) >= 0.9 * best > 0
