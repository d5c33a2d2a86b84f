"""The rule `reward-shifted`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

LEAST, MOST = "reward/env_min", "reward/env_max"

ROUNDED = 1.0
"""Steps of `rounding` that two rounded numbers may lie apart."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-shifted`. Engineering defaults; what they count is exact."""

    rows: int = 16
    """Earlier rows, each of 64 steps or more, that say what is paid."""
    lasts: int = 3
    """Rows in a row that hold nothing but what is new."""
    sizes: int = 24
    """Sizes of the least and the most of a row up to which rewards are of few sizes; of others none comes twice."""
    shared: int = 2
    """Sizes that moved by the very same amount: one alone may be another prize."""
    mixed: int = 1
    """Rows that may hold both: the change falls within a row."""
    rounding: float = 1e-5
    """Share of the largest reward within which two sizes are one: records keep seven digits."""


PPO = synth.like("PPO")


def paid(low: float, high: float, fine: float, until: float = 2.0) -> dict[str, synth.Shape]:
    """A step is paid `high`, a crash `low`, in every third row; from time `until` on each is `fine` less."""

    def shape(value: float) -> synth.Shape:
        def rewards(t: Floats, rng: np.random.Generator) -> Floats:
            return np.asarray(np.where(np.arange(t.size) % 3 == 0, value, high) - fine * (t >= until), dtype=np.float64)

        return rewards

    return {LEAST: shape(low), MOST: shape(high)}


CASES = (
    fires("each step costs 0.3 besides", lambda: PPO(paid(-1.0, 0.1, 0.3, until=0.6))),
    fires("each step is paid 0.5 more", lambda: PPO(paid(-1.0, 0.0, -0.5, until=0.6))),
    healthy("a step is paid 0.1, a crash costs 1", lambda: PPO(paid(-1.0, 0.1, 0.0))),
    near_miss(
        "a policy that no longer comes to the prize",
        lambda: PPO({LEAST: synth.constant(-1.0), MOST: synth.jump(5, 0.1, 0.6, 0)}),
    ),
    near_miss("all steps are another that was paid before", lambda: PPO(paid(-1.0, 0.0, 1.0, until=0.6))),
    near_miss(
        "one size that is new", lambda: PPO({LEAST: synth.jump(0.1, -0.2, 0.6, 0), MOST: synth.jump(0.1, -0.2, 0.6, 0)})
    ),
    near_miss(
        "rewards of every size fall",
        lambda: PPO({LEAST: synth.jump(-1.0, -1.3, 0.6), MOST: synth.jump(0.1, -0.2, 0.6)}),
    ),
)


@rule(
    "RWD080",
    "reward-shifted",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(LEAST, MOST),
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "return-collapse",
        "return-falls-at-once",
        "reward-moves-at-once",
        "explained-variance-collapse",
        "values-jump",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every step is paid a constant more, or less, than it was: no reward of before occurs any more.

    What it means:
        Rewards are of few sizes. From one row to the next none of them is ever paid again, and those that are paid are
        the old ones moved by one and the same amount.

    Why it matters:
        In tasks that end, a constant pays for ending soon, or for never ending: another policy is the best one, and
        the one that was learned is given up by degrees.

    Usual causes:
        A penalty on time that was added or is too large; a bonus for being alive; a baseline that is subtracted from
        rewards; a normaliser that began to subtract a mean.

    What to try:
        Score the same saved transitions with the code before and after, and subtract.

    When it is harmless:
        Where every episode is equally long and nothing ends it, a constant changes no policy.

    References:
        Ng, Harada and Russell 1999, "Policy invariance under reward transformations" (what may be added to a reward).
    """
    low, high = view.get(LEAST), view.get(MOST)
    assert low is not None
    assert high is not None
    if len(low) != len(high) or len(low) < params.rows + params.mixed + params.lasts:
        return Skip("too few rows to say what is paid")
    if {low.first, high.first} & {low.last, high.last}:
        return None  # a reward of the first row is paid still
    size = float(max(abs(low.min), abs(low.max), abs(high.min), abs(high.max)))
    both = np.round(np.stack([low.value, high.value]) / (params.rounding * max(size, 1e-300)))
    for place in none_again(both, params):
        shift = shift_of(both[:, : place - params.mixed], both[:, place:], params)
        if shift is not None:
            amount = shift * params.rounding * size
            return Detection(
                message=f"every reward is {abs(amount):.3g} {'more' if amount > 0 else 'less'} than before",
                onset=view.onset(float(low.step[place - 1 - params.mixed]), float(low.step[place])),
                metric=high.metric,
                evidence={
                    "shift": amount,
                    "now_at_most": float(high.value[place]),
                    "rows_before": place - params.mixed,
                },
            )
    return None


def none_again(both: Floats, params: Params) -> list[int]:
    """Return the rows from which on no least and no most [2, n] is one of before, where those are of few sizes."""
    count = both.shape[1]
    rows = both.T.ravel()
    first = np.unique(rows, return_index=True)[1] // 2
    last = (rows.size - 1 - np.unique(rows[::-1], return_index=True)[1]) // 2
    crossed = np.zeros(count + 2, dtype=np.intp)  # sizes that are seen on both sides of a split
    wide = last >= first + params.mixed + 1
    np.add.at(crossed, first[wide] + params.mixed + 1, 1)
    np.add.at(crossed, last[wide] + 1, -1)
    places = np.flatnonzero(np.cumsum(crossed)[:count] == 0)
    places = places[(places >= params.rows + params.mixed) & (places <= count - params.lasts)]
    return [place for place in places.tolist() if np.count_nonzero(first < place - params.mixed) <= params.sizes]


def shift_of(before: Floats, after: Floats, params: Params) -> float | None:
    """Return by how much each least and most together [2, m] moved from one of `before` [2, n]; None: not all alike."""
    old = np.unique(before, axis=1)
    new = np.unique(after, axis=1)
    if np.unique(new).size < params.shared:
        return None
    for shift in new[:, -1:].T - old.T:  # the largest of what is new, less each of what was
        away = np.abs(new[:, :, None] - shift[0] - old[:, None, :]).max(axis=0)
        if abs(shift[0] - shift[1]) <= ROUNDED and bool((away.min(axis=1) <= ROUNDED).all()):
            return float(shift[0])
    return None
