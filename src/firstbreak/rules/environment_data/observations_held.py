"""The rule `observations-held`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats.change import least_of
from firstbreak.view import RunView

HELD, CONTRADICTED = "env/held_frac", "env/contradicted_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `observations-held`. Engineering defaults; what they count is exact."""

    rows: int = 16
    """Earlier rows, each of 64 steps or more, in which observation and action must have said what follows."""
    chance: float = 0.005
    """Share of contradicted steps up to which a world counts as one without chance: less than one step in a row."""
    now: float = 0.04
    """Share of contradicted steps from which on it no longer is: three steps of a row of 64."""
    held: float = 0.3
    """Share of steps that must leave the observation exactly as it was."""
    times: float = 3.0
    """How many times the most of any earlier row that share must be: in a maze, walls hold it, too."""
    lasts: int = 2
    """Rows in a row that must show both."""


PPO = synth.like("PPO")
NEVER = synth.constant(0.0)
STUCK = {HELD: synth.jump(0.0, 0.9, 0.6, 0.01), CONTRADICTED: synth.jump(0.0, 0.1, 0.6, 0.001)}
CASES = (
    fires("nine steps in ten show the observation before", lambda: PPO(STUCK)),
    healthy("every step shows something new", lambda: PPO({HELD: NEVER, CONTRADICTED: NEVER})),
    near_miss(
        "the policy runs against a wall and stays there",
        lambda: PPO({HELD: synth.jump(0.0, 0.95, 0.6, 0.01), CONTRADICTED: NEVER}),
    ),
    near_miss(
        "a world of chance from the start: slippery ice",
        lambda: PPO(STUCK | {CONTRADICTED: synth.clipped(synth.flat(0.3, 0.1), 0, 1)}),
    ),
    near_miss(
        "one such row", lambda: PPO({HELD: synth.spikes(0.0, 0.9, (0.6,), 0), CONTRADICTED: STUCK[CONTRADICTED]})
    ),
)


@rule(
    "ENV036",
    "observations-held",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(HELD, CONTRADICTED),
    min_points=18,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "dynamics-changed", "action-response-changed", "reward-unforeseen", "reward-redefined"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The environment begins to show old observations: they stand still, and then go on by themselves.

    What it means:
        In all earlier rows the same observation and action led to the same next observation. Now most steps leave the
        observation exactly as it was, and the same action in the same place at times does nothing and at times goes on.

    Why it matters:
        The policy acts on what is long past, and learns that actions have no effect.

    Usual causes:
        A sensor, queue or worker that is slower than the loop and hands out its last value; a cache that is not
        cleared; a buffer that is written to by another thread; frames repeated by a wrapper without their rewards.

    What to try:
        Log a counter or time stamp of each observation beside it; step one copy by hand.

    When it is harmless:
        Where you switched on delays or dropped frames yourself, as randomisation: log `env/curriculum`.

    References:
        None: a fact about the data.
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    held, against = view.get(HELD), view.get(CONTRADICTED)
    assert held is not None
    assert against is not None
    both, here, there = np.intersect1d(held.step, against.step, return_indices=True)
    stood, contradicted = held.value[here], against.value[there]
    if stood.size < params.rows + params.lasts:
        return Skip("too few rows to say what is usual")
    whole = stood.size - params.lasts + 1
    most, sure = np.maximum.accumulate(stood), np.maximum.accumulate(contradicted) <= params.chance
    bar = np.maximum(params.held, params.times * most[params.rows - 1 : whole - 1])
    begins = least_of(stood, params.lasts)[params.rows : whole] >= bar
    begins &= least_of(contradicted, params.lasts)[params.rows : whole] >= params.now
    found = np.flatnonzero(begins & sure[params.rows - 1 : whole - 1])
    if not found.size:
        return None
    place = int(found[0]) + params.rows
    return Detection(
        message=f"{stood[place]:.0%} of steps show the observation before once more; at most {most[place - 1]:.0%} did",
        onset=view.onset(float(both[place - 1]), float(both[place])),
        metric=HELD,
        evidence={
            "held_frac": float(stood[place]),
            "most_before_frac": float(most[place - 1]),
            "contradicted_frac": float(contradicted[place]),
        },
    )
