"""The rule `copies-alike`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

ALIKE = "env/copies_alike_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `copies-alike`. Engineering defaults; what they count is exact."""

    rows: int = 8
    """Earlier rows, each of 64 steps or more, that say how often copies meet."""
    chance: float = 0.2
    """Share of steps up to which copies showed the same in all of them: starts that are alike, small sets of states."""
    share: float = 0.9
    """Share of what would be all steps but those of the first copy, from which on all copies show one observation."""


EIGHT = synth.like("PPO", config={"n_envs": 8})
CASES = (
    fires("an array is broadcast", lambda: EIGHT({ALIKE: synth.jump(0.0, 0.875, 0.6, 0)})),
    fires(
        "the same where copies meet at times", lambda: EIGHT({ALIKE: synth.clipped(synth.jump(0.05, 0.86, 0.6), 0, 1)})
    ),
    healthy("each shows its own", lambda: EIGHT({ALIKE: synth.constant(0.0)})),
    near_miss(
        "all begin alike, and a policy that is nearly certain keeps them together",
        lambda: EIGHT({ALIKE: synth.clipped(synth.ramp(0.0, 0.86, 0.02), 0, 1)}),
    ),
    near_miss("half of the steps", lambda: EIGHT({ALIKE: synth.jump(0.0, 0.45, 0.6, 0)})),
    near_miss("one copy", lambda: synth.like("PPO", config={"n_envs": 1})({ALIKE: synth.jump(0.0, 0.9, 0.6, 0)})),
)


@rule(
    "ENV080",
    "copies-alike",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(ALIKE,),
    needs_config=("n_envs",),
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "dynamics-changed",
        "action-response-changed",
        "reward-unforeseen",
        "reward-redefined",
        "return-collapse",
        "return-falls-at-once",
        "explained-variance-collapse",
        "critic-fit-lost",
        "environment-moves-at-once",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """All copies of the environment suddenly show one and the same observation, although each is somewhere else.

    What it means:
        Step after step, each copy's next observation is to the last bit the one of the copy before it. Until then
        copies hardly ever showed the same.

    Why it matters:
        All copies but one act blindly: their actions answer to another's state. Rewards no longer follow from what is
        seen, so that neither policy nor critic can learn from them.

    Usual causes:
        An array that is broadcast instead of stacked; one buffer that every copy writes to, without a copy being made;
        an index that stays 0.

    What to try:
        Step two copies by hand with other actions, and print both observations and their addresses.

    When it is harmless:
        Copies that are meant to run in step, with the same seed and actions.

    References:
        None; the share is counted exactly.
    """
    alike, copies = view.get(ALIKE), view.number("n_envs")
    assert alike is not None
    if copies is None or copies < 2:
        return Skip("one copy of the environment shows one observation")
    value = alike.value
    if value.size <= params.rows:
        return Skip("too few rows to say how often copies meet")
    bar = params.share * (1 - 1 / copies)
    # A change falls within a row, which then holds both and is no measure of what was usual.
    most = np.concatenate([np.zeros(1), np.maximum.accumulate(value)[:-2]])
    found = np.flatnonzero((value[1:] >= bar) & (most <= params.chance)) + 1
    found = found[found >= params.rows]
    if not found.size:
        return None
    place = int(found[0])
    return Detection(
        message=f"{value[place]:.0%} of the steps of {copies:.0f} copies lead to what the copy before had shown",
        onset=view.onset(float(alike.step[max(place - 2, 0)]), float(alike.step[place])),
        metric=ALIKE,
        evidence={"alike_frac": float(value[place]), "most_before": float(most[place - 1]), "copies": copies},
    )
