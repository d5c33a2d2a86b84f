"""The rule `critic-fit-lost`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import rises
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.stats.change import largest_of, least_of
from firstbreak.view import Points, RunView

from .explained_variance_negative import RETURNS

EV, LOSS, SPREAD = "critic/explained_variance", "critic/loss", "return/std"


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-fit-lost`. Of some 1,300 recorded runs (development half and live campaigns, corpus of
    2026-11-26) no unbroken one meets all of them; of 30 in which a healthy critic's fit falls so far, the loss falls
    with it in 25 and returns spread 14 times as far in 2."""

    rows: int = 8
    """Rows on end that the critic must have explained most: the shortest stretch with a stated error."""
    had: float = 0.5
    """Explained variance of the least of them: half of all there is to explain."""
    nothing: float = 0.2
    """Explained variance of the most of the rows after: a useless critic scatters so far around 0 on small batches, as
    `explained-variance-negative` has it."""
    lasts: int = 3
    """Rows in a row that must show it: single dips follow every large step of the policy."""
    errors: float = 2.0
    """Times the largest loss of the rows before that the least of the rows after reaches: half of the targets that were
    explained are an error now. Where returns hardly vary any more, explained variance falls and the loss with it."""
    spread: float = 2.0
    """Times the largest spread of returns before that those after may have. Healthy critics meet new returns, far more
    spread than those they know, and explain none of them: 5 times and more (rare failures of a solved task)."""


PPO = synth.like("PPO")
RETURN = "reward/episode_return_mean"
LOST = {EV: synth.jump(0.95, -0.03, at=0.6), LOSS: synth.jump(0.5, 10.0, at=0.6, noise=0.1)}
HELD = {SPREAD: synth.flat(3.0, 0.1), RETURN: synth.ramp(250, 310, 0.01)}
CASES = (
    fires("all that was explained is error now, and returns are as they were", lambda: PPO(LOST | HELD)),
    fires("the same without the spread of returns", lambda: PPO(LOST | {RETURN: HELD[RETURN]})),
    healthy("rises and stays", lambda: PPO({})),
    near_miss(
        "returns hardly vary any more: the loss falls, too",
        lambda: PPO(LOST | HELD | {LOSS: synth.jump(0.5, 0.05, at=0.6)}),
    ),
    near_miss(
        "a rare failure spreads returns as never before",
        lambda: PPO(LOST | HELD | {SPREAD: synth.jump(3.0, 40.0, at=0.6)}),
    ),
    near_miss("half of it is left", lambda: PPO(LOST | HELD | {EV: synth.jump(0.95, 0.45, at=0.6)})),
    near_miss(
        "two rows after a large step",
        lambda: PPO(
            HELD | {EV: synth.spikes(0.95, -0.1, (0.597, 0.606)), LOSS: synth.spikes(0.5, 9.0, (0.597, 0.606))}
        ),
    ),
    near_miss("the return fell with it", lambda: PPO(LOST | HELD | {RETURN: synth.jump(300, 100, at=0.6)})),
    near_miss("a curriculum", lambda: PPO(LOST | HELD | {"env/curriculum@level": synth.ramp(0, 9, 0.0)})),
)


@rule(
    "CRT040",
    "critic-fit-lost",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(EV, LOSS),
    any_of=(RETURNS,),
    when=("value_function",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("explained-variance-collapse", "explained-variance-negative", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one row to the next the critic explains next to nothing, of returns that are as large and spread as before.

    What it means:
        Explained variance was above a half in every row and is near 0 in every row since; the loss rose by as much,
        while returns neither fell nor spread further.

    Why it matters:
        Advantages are noise from that row on. The policy lives on what it knows for a while, so the return says
        nothing yet.

    Usual causes:
        Targets that belong to other observations (another order of flattening, another copy's reward, a shuffle); a
        critic that was exchanged; weights that something else wrote into.

    What to try:
        Fit the critic alone on one stored batch. Print observation, reward and target of one copy over ten steps, and
        see whether they belong together.

    When it is harmless:
        Resets of the critic on purpose. Where the return falls in the same rows the rule is silent: what broke may lie
        further out.

    References:
        Schulman et al. 2016, arXiv 1506.02438, section 6 (what the value function is fitted to).
    """
    if any(rises(points) for points in view.family("env/curriculum").values()):
        return Skip("a curriculum changes what returns there are")
    ev, loss, reward = view.get(EV), view.get(LOSS), view.get(*RETURNS)
    assert ev is not None
    assert loss is not None
    assert reward is not None
    for place in lost(ev.value, params):
        rows = slice(place - params.rows, place), slice(place, place + params.lasts)
        before, after = ((float(ev.step[part][0]), float(ev.step[part][-1])) for part in rows)
        if grew(loss, before, after, params) and alike(view, ev, loss, place, params) and holds(reward, before, after):
            had, now = median(ev.value[rows[0]]), median(ev.value[rows[1]])
            return Detection(
                message=f"explained variance went from {had:.2f} to {now:.2f} at once; returns are as before",
                onset=view.onset(float(ev.step[place - 1]), float(ev.step[place])),
                metric=ev.metric,
                evidence={"before": had, "now": now},
            )
    return None


def lost(value: Floats, params: Params) -> list[int]:
    """Return the places of `value` [n] before which most was explained, and next to nothing from there on."""
    whole = value.size - params.rows - params.lasts + 1
    if whole <= 0:
        return []
    most = least_of(value, params.rows)[:whole] >= params.had
    none = largest_of(value, params.lasts)[params.rows :] <= params.nothing
    return (np.flatnonzero(most & none) + params.rows).tolist()


def between(points: Points, span: tuple[float, float]) -> Floats:
    """Return the values of the rows of `span`, both ends included."""
    first, last = np.searchsorted(points.step, span[0]), np.searchsorted(points.step, span[1], side="right")
    return points.value[first:last]


def grew(loss: Points, before: tuple[float, float], after: tuple[float, float], params: Params) -> bool:
    """Whether every loss after is far above every one before."""
    then, now = between(loss, before), between(loss, after)
    return bool(then.size and now.size) and float(now.min()) >= params.errors * float(then.max())


def alike(view: RunView, ev: Points, loss: Points, place: int, params: Params) -> bool:
    """Whether returns spread as they did; where that is not logged, errors over what is not explained say how far."""
    before = float(ev.step[place - params.rows]), float(ev.step[place - 1])
    after = float(ev.step[place]), float(ev.step[place + params.lasts - 1])
    spread = view.get(SPREAD)
    if spread is not None and (then := between(spread, before)).size and (now := between(spread, after)).size:
        return float(now.max()) <= params.spread * float(then.max())
    left = [1 - median(between(ev, span)) for span in (before, after)]
    size = [median(between(loss, span)) / max(part, 1e-3) for span, part in zip((before, after), left, strict=True)]
    return size[1] <= params.spread**2 * size[0]


def holds(reward: Points, before: tuple[float, float], after: tuple[float, float]) -> bool:
    """Whether the return after is, in the middle, no lower than the least before."""
    then, now = between(reward, before), between(reward, after)
    return bool(then.size and now.size) and median(now) >= float(then.min())
