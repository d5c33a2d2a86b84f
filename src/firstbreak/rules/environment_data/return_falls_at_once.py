"""The rule `return-falls-at-once`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import rises
from firstbreak.series import Floats
from firstbreak.stats import median, quantile
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of

MEANS = ("reward/episode_return_mean", "reward/shaped_return_mean")
SINGLE = ("reward/episode_return", "reward/raw_episode_return")
UPDATES = (
    "policy/kl_old",
    "policy/kl_k1",
    "policy/clip_fraction",
    "policy/entropy",
    "policy/action_std",
    "policy/loss",
    "optim/lr",
    "optim/grad_norm",
)
"""What an update that ruins the policy shows, in the row of the update."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `return-falls-at-once`. Engineering defaults where no source is named."""

    rows: int = 8
    """Rows before and after the fall; twice as many where rows are single episodes, and half as many more between, for
    those that copies of the world had begun."""
    few: int = 200
    """Single episodes up to which they are taken as rows are, with none between."""
    of_values: int = 2
    """Times as many rows after it where actions are those of highest value; such policies fall at times."""
    gained: float = 0.5
    """Share of the opening's size by which the return had risen."""
    random: float = 0.05
    """Share of actions by which more are random after the fall than before: then that explains it."""
    left: float = 0.03
    """Share of that gain that is left: in the healthy runs of the fault benchmark's development half and among ordinary
    logs (2026-11-25), curricula included, 0.06 or more were left of any such gain."""
    unusual: float = 2.0
    """Times the largest distance from its median that a measure of updates had in earlier rows."""
    earlier: int = 20
    """Earlier rows that say so."""
    before: int = 3
    """Rows just before the fall in which an update would have had to show it."""


PPO, DQN = synth.like("PPO"), synth.like("DQN")
LEARNS = synth.ramp(20, 400, 0.03)
LOST = synth.after(0.6, synth.flat(16, 0.05), LEARNS)
RETURN = MEANS[0]


def by_copies(t: Floats, rng: np.random.Generator) -> Floats:
    """Returns [n] of single episodes: eight that copies of the world had begun end between the best and chance."""
    value = (20 + 600 * np.minimum(t, 0.6)) * rng.uniform(0.9, 1.1, t.size)
    after = np.flatnonzero(t >= 0.6)
    value[after] = rng.uniform(9, 12, after.size)
    value[after[:8]] = rng.uniform(15, 300, 8)
    return value


SINGLES = synth.like("PPO", n=600, drop=MEANS)
CASES = (
    fires("from the best to chance in one row", lambda: PPO({RETURN: LOST})),
    fires("the same where actions are greedy", lambda: DQN({RETURN: LOST})),
    fires("in single episodes of eight copies", lambda: SINGLES({SINGLE[0]: by_copies})),
    healthy("rises", lambda: PPO({})),
    near_miss(
        "half of it is left", lambda: PPO({RETURN: synth.after(0.6, synth.flat(150), synth.ramp(20, 400, 0.03))})
    ),
    near_miss(
        "it fades over many rows",
        lambda: PPO({RETURN: synth.after(0.5, synth.ramp(400, 16, 0.03, begin=0.5), LEARNS)}),
    ),
    near_miss("one bad row", lambda: PPO({RETURN: synth.spikes(300, 10, at=(0.7, 0.71), noise=0.05)})),
    near_miss(
        "the update before it was far too large",
        lambda: PPO({RETURN: LOST, "policy/kl_old": synth.spikes(0.008, 0.9, at=(0.592,), noise=0.2)}),
    ),
    near_miss("no reward at all any more", lambda: PPO({RETURN: synth.after(0.6, synth.constant(0.0), LOST)})),
    near_miss("actions became random again", lambda: DQN({RETURN: LOST, "dqn/epsilon": synth.jump(0.05, 0.9, at=0.6)})),
    near_miss("a curriculum", lambda: PPO({RETURN: LOST, "env/curriculum@level": synth.ramp(0, 9, 0.0)})),
)


@rule(
    "ENV041",
    "return-falls-at-once",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    any_of=((*MEANS, *SINGLE),),
    when=("control",),
    min_points=24,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "learns-to-fail",
        "reward-flat",
        "explained-variance-collapse",
        "value-loss-explosion",
        "best-long-past",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one row to the next the return falls back to where it began, and no update before was out of the ordinary.

    What it means:
        Nothing is left of what had been gained, at once. One update that does this to a policy is seen in its KL,
        entropy, clip fraction, loss or learning rate; none of those that are logged was unusual in the rows before.

    Why it matters:
        So it is not the policy that changed, but what it acts on: what it sees, or what its actions do.

    Usual causes:
        A sensor that sticks or is offset; actions that reach the plant with another sign or scale; a watchdog that ends
        episodes; statistics of a normaliser that were lost; a wrapper that changed its order.

    What to try:
        Replay saved actions from saved states with the code of before and of now; print one observation of either.

    When it is harmless:
        A step of a curriculum that you know of. Policies that act on values alone do fall by themselves at times.

    References:
        None; the return is compared with its own opening, and an effect with the updates before it.
    """
    reward = view.get(*MEANS, *SINGLE)
    assert reward is not None
    if any(rises(points) for points in view.family("env/curriculum").values()):
        return None
    traits = traits_of(view.algorithm)
    found = fell(reward, "epsilon_greedy" in traits, params)
    if found is None:
        return None
    if more_random(view, found, params) if "epsilon_greedy" in traits else not usual(view, found.judged, params):
        return None
    return Detection(
        message=f"return fell from {found.before:.4g} to {found.after:.4g} at once; it began at {found.opening:.4g}",
        onset=view.onset(found.last_high, found.first_low),
        metric=reward.metric,
        evidence={"before": found.before, "after": found.after, "opening": found.opening},
    )


@dataclass(frozen=True)
class Fall:
    """A fall of the return: its levels, and the steps of the last row above it, the first below, the last looked at."""

    opening: float
    before: float
    after: float
    last_high: float
    first_low: float
    until: float
    judged: float
    """Step up to which updates may have done it."""


def fell(reward: Points, greedy: bool, params: Params) -> Fall | None:
    """Return where next to nothing is left at once of what had been gained; `greedy` policies are watched longer."""
    value = reward.value
    many = reward.metric in SINGLE and value.size > params.few
    size, mixed = (2 * params.rows, params.rows) if many else (params.rows, 0)
    lasts = size * (params.of_values if greedy else 1)
    if value.size < 2 * size + lasts:
        return None
    opening, top = median(value[:size]), quantile(value[:size], 0.9)
    least = opening + params.gained * abs(opening)
    for place in candidates(value, opening, lasts, params):
        if place < 2 * size + mixed:
            continue
        after = value[place : place + lasts]
        before = value[place - size - mixed : place - mixed]
        level, floor = median(before), quantile(before, 0.1)
        if level < least or floor <= top:
            continue
        low = median(after)
        silent = np.ptp(after[-(lasts // 2) :]) == 0  # no reward is paid any more: see the rules of the reward
        if low <= opening + params.left * (level - opening) and quantile(after, 0.9) < floor and not silent:
            high = np.flatnonzero(value[: place + lasts] >= floor)
            last = int(high[high < place + size // 2][-1]) if not mixed else place - mixed
            low_from = last + 1 if not mixed else place
            steps = (float(reward.step[n]) for n in (last, low_from, place + lasts - 1, low_from - 1))
            return Fall(opening, level, low, *steps)
    return None


def candidates(value: Floats, opening: float, lasts: int, params: Params) -> list[int]:
    """Return the places from which half of `lasts` values are as low as the best ever would leave: few, if any."""
    bar = opening + params.left * max(float(value.max()) - opening, 0.0)
    low = np.concatenate([[0], np.cumsum(value <= bar)])
    return np.flatnonzero(low[lasts:] - low[:-lasts] >= lasts // 2).tolist()


def more_random(view: RunView, found: Fall, params: Params) -> bool:
    """Whether epsilon is higher after the fall than before it."""
    epsilon = view.get("dqn/epsilon")
    if epsilon is None:
        return False
    before, after = np.interp([found.last_high, found.until], epsilon.step, epsilon.value)
    return bool(after > before + params.random)


def usual(view: RunView, at: float, params: Params) -> bool:
    """Whether the updates in the rows up to step `at` are seen to have been as all earlier ones."""
    judged = False
    for name in UPDATES:
        points = view.get(name)
        past = points.value[points.step <= at] if points is not None else np.empty(0)
        if past.size < params.before + params.earlier // 2:
            continue
        judged = True
        earlier, last = past[: -params.before][-params.earlier :], past[-params.before :]
        level = median(earlier)
        apart = float(np.abs(earlier - level).max())
        if float(np.abs(last - level).max()) > params.unusual * apart + 1e-9 * abs(level):
            return False
    return judged
