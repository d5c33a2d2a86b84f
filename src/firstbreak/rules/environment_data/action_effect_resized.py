"""The rule `action-effect-resized`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import weights_thrown
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import Points, RunView

GAIN, SURPRISE, FORESEEN = "env/action_gain", "env/dynamics_surprise", "env/predicted_frac"
LEAST = 0.01
"""Gains below it, and negative ones, count as this: logarithms are compared."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `action-effect-resized`; engineering defaults where no source is named."""

    before: int = 16
    """Rows before that say what is usual."""
    clear: float = 0.25
    """Largest log of the gain in these rows, either way: else the effect of actions was never known well."""
    times: float = 1.5
    """Factor by which actions do more or less. Actions cut to a tenth come to 0.11 and 0.16 in the first two rows
    (SAC on Pendulum, 2026-11-26); healthy rows lie between 0.75 and 1.2."""
    apart: float = 2.0
    """Times the largest log of the rows before."""
    lasts: int = 2
    """Rows on end that must show it. The model follows within some fifty."""
    foreseen: float = 0.9
    """Share of the next observation that is usually foreseen, where that is measured: what a linear model explains by
    half has a gain that goes with the policy."""
    surprise: float = 1.5
    """Times the usual error that one of these rows must be off by, where that is measured: else it is where the policy
    goes."""


PPO = synth.like("PPO")
ONE, UNCLEAR = synth.flat(1.0, 0.03), synth.flat(1.0, 0.4)
CUT, LOST = synth.after(0.6, synth.flat(0.2, 0.05), ONE), synth.after(0.6, synth.flat(0.2, 0.05), UNCLEAR)
USUAL = synth.clipped(synth.flat(1.0, 0.1), 0, 99)
OFF = synth.clipped(synth.after(0.6, synth.flat(4.0, 0.3), synth.flat(1.0, 0.1)), 0, 99)
THROWN = synth.after(0.6, synth.flat(90.0, 0.001), synth.flat(20.0, 0.001))
CASES = (
    fires("actions cut to a fifth", lambda: PPO({GAIN: CUT, SURPRISE: OFF, FORESEEN: synth.constant(0.99)})),
    fires("actions do three times as much", lambda: PPO({GAIN: synth.after(0.6, synth.flat(3.0, 0.2), ONE)})),
    healthy("as before", lambda: PPO({GAIN: ONE})),
    near_miss("an effect that never was clear", lambda: PPO({GAIN: LOST})),
    near_miss("all that follows is foreseen", lambda: PPO({GAIN: CUT, SURPRISE: USUAL})),
    near_miss(
        "a world that is explained by half", lambda: PPO({GAIN: CUT, SURPRISE: OFF, FORESEEN: synth.constant(0.5)})
    ),
    near_miss(
        "weights were thrown about, and the policy with them",
        lambda: PPO({GAIN: CUT, SURPRISE: OFF, "net/weight_norm": THROWN}),
    ),
    near_miss("one odd row", lambda: PPO({GAIN: synth.spikes(1.0, 0.2, (0.6,), 0.03)})),
)


@rule(
    "ENV119",
    "action-effect-resized",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(GAIN,),
    min_points=18,
    params=Params(),
    cases=CASES,
    implies=(
        "action-response-changed",
        "dynamics-changed",
        "action-saturation",
        "return-falls-at-once",
        "return-collapse",
        "smooth-decline",
        "explained-variance-collapse",
        "value-loss-explosion",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Actions move the environment suddenly by another amount than before.

    What it means:
        How far an action moves the next observation followed from what was learnt of earlier steps. Now it moves it by
        a part, a multiple or the opposite of that.

    Why it matters:
        What the policy has learned is no longer true of this environment. It answers by larger or smaller actions,
        which is all that other figures show.

    Usual causes:
        A scale of actions that a wrapper lost or applies twice; a gain or a unit of an actuator; a worn or dead
        actuator; another time step of the simulator.

    What to try:
        Give the same action in the same state before and after the change and compare the next observations.

    When it is harmless:
        Domain randomisation or another level that you switched on yourself.

    References:
        Ljung 1999, "System Identification", section 11.2 (the model that is followed).
    """
    points, foreseen = view.get(GAIN), view.get(FORESEEN)
    assert points is not None
    size = np.log(np.maximum(points.value, LEAST))
    for place in resized(size, params):
        at = float(points.step[place])
        if foreseen is not None and _hardly(foreseen, at, params):
            continue
        if weights_thrown(view, at) or _as_usual(view.get(SURPRISE), points, place, params):
            continue
        now = median(points.value[place : place + params.lasts])
        return Detection(
            message=f"actions do {now:.2g} times what they did",
            onset=view.onset(float(points.step[place - 1]), at),
            metric=GAIN,
            evidence={"gain": now, "largest_log_before": float(np.abs(size[place - params.before : place]).max())},
        )
    return None


def resized(size: Floats, params: Params) -> list[int]:
    """Return the rows from which on logs of the gain [n] lie far from those before."""
    found: list[int] = []
    away: Floats = np.abs(size)
    for place in np.flatnonzero(away >= np.log(params.times)).tolist():
        before, now = away[max(0, place - params.before) : place], away[place : place + params.lasts]
        if before.size < params.before or now.size < params.lasts:
            continue
        least = max(float(np.log(params.times)), params.apart * float(before.max()))
        if float(before.max()) <= params.clear and float(now.min()) >= least:
            found.append(place)
    return found


def _hardly(foreseen: Points, at: float, params: Params) -> bool:
    before = foreseen.value[foreseen.step < at][-params.before :]
    return before.size > 0 and median(before) < params.foreseen


def _as_usual(surprise: Points | None, points: Points, place: int, params: Params) -> bool:
    """Whether the rows that show it hold no larger error than usual."""
    if surprise is None:
        return False
    last = float(points.step[place + params.lasts - 1])
    rows = surprise.value[(surprise.step >= float(points.step[place])) & (surprise.step <= last)]
    return rows.size > 0 and float(rows.max()) < params.surprise
