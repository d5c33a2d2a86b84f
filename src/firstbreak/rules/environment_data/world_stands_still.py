"""The rule `world-stands-still`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.stats.change import least_of
from firstbreak.view import RunView

HELD, SURPRISE = "env/held_frac", "env/dynamics_surprise"


@dataclass(frozen=True)
class Params:
    """Thresholds of `world-stands-still`. Engineering defaults; what is held is counted exactly. Of 1,159
    recorded runs that log it (2026-11-27) five show it, all with a fault of the environment."""

    rows: int = 12
    """Earlier rows, each of 64 steps or more, of which not one step left the observation as it was."""
    held: float = 0.3
    """Share of steps that must do so now, ..."""
    lasts: int = 3
    """... in so many rows in a row."""
    surprised: float = 2.0
    """How many times the largest error of prediction of the newest rows before theirs must be in the middle: an agent
    that has learned to rest stands still as foreseen. Of all rows a young model has the largest."""
    recent: int = 8
    """How many rows these are."""


PPO = synth.like("PPO")
STOPS = {HELD: synth.jump(0.0, 0.7, 0.6, 0.0), SURPRISE: synth.jump(0.8, 15.0, 0.6, 0.1)}
CASES = (
    fires("what has ended is stepped on until the time limit", lambda: PPO(STOPS)),
    healthy("all moves at every step", lambda: PPO(STOPS | {HELD: synth.constant(0.0)})),
    near_miss("an agent learns to rest", lambda: PPO(STOPS | {SURPRISE: synth.flat(0.8, 0.1)})),
    near_miss("walls held it before, too", lambda: PPO(STOPS | {HELD: synth.jump(0.1, 0.7, 0.6, 0.02)})),
    near_miss("one row", lambda: PPO(STOPS | {HELD: synth.spikes(0.0, 0.7, (0.6,), 0.0)})),
)


@rule(
    "ENV106",
    "world-stands-still",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(HELD, SURPRISE),
    min_points=15,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "dynamics-changed",
        "action-response-changed",
        "environment-moves-at-once",
        "environment-leaves-past",
        "reward-unforeseen",
        "reward-redefined",
        "episodes-at-time-limit",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Where every step moved something, many now leave the observation exactly as it was, and nothing foretold it.

    What it means:
        In no earlier row did one step show the observation before once more. Now three in ten or more do, row after
        row, and a model of what observation and action lead to errs as it never did.

    Why it matters:
        Such transitions say that no action has an effect; they fill batches and buffer.

    Usual causes:
        An episode's end that is no longer passed on, so that what has ended is stepped until the time limit; actuators
        that are dead; a step that is answered with the last observation; a simulator that hangs.

    What to try:
        Step one copy by hand to the end of an episode, and print `terminated`, `truncated` and the observation.

    When it is harmless:
        Where you switched on dropped frames or delays yourself: log `env/curriculum`. An agent that has learned to rest
        is foreseen, and is not reported.

    References:
        None: a fact about the data.
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    held, surprise = view.get(HELD), view.get(SURPRISE)
    assert held is not None
    assert surprise is not None
    step, here, there = np.intersect1d(held.step, surprise.step, return_indices=True)
    stood, error = held.value[here], surprise.value[there]
    if stood.size < params.rows + params.lasts:
        return Skip("too few rows to say what is usual")
    begins = np.flatnonzero(least_of(stood, params.lasts)[params.rows :] >= params.held) + params.rows
    # The row just before may hold some such steps already.
    if not begins.size or stood[: (place := int(begins[0])) - 1].any():
        return None
    if (
        median(error[place : place + params.lasts])
        < params.surprised * error[max(0, place - 1 - params.recent) : place - 1].max()
    ):
        return None
    return Detection(
        message=f"{stood[place]:.0%} of steps leave the observation exactly as it was; in {place - 1} rows none did",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=HELD,
        evidence={"held_frac": float(stood[place]), "rows_before": place - 1},
    )
