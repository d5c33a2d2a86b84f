"""The rule `action-effect-resized`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import weights_thrown
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.reread import on_end, read_as
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import borne_out, median
from firstbreak.view import Points, RunView

GAIN, SURPRISE, FORESEEN = "env/action_gain", "env/dynamics_surprise", "env/predicted_frac"
REREAD, READING = "env/action_reread", "env/action_reading"
LEAST = 0.01
"""Gains below it, and negative ones, count as this: logarithms are compared."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `action-effect-resized`; engineering defaults where no source is named."""

    before: int = 12
    """Rows before that say what is usual."""
    clear: float = 0.25
    """Largest log of the gain in the rows before, either way: else the effect of actions was never known well."""
    near: float = 0.1
    """The same where fewer than `long` rows are known: PPO on Acrobot stays within 0.21 for sixteen rows, then comes to
    0.57 for two (healthy run of 2026-11-26); worlds that tell lie at 0.03."""
    farther: float = 6.0
    """Times the largest log of the rows before, from which on these need not lie so near."""
    times: float = 1.5
    """Factor by which actions do more or less; healthy rows lie between 0.75 and 1.2 (2026-11-26)."""
    apart: float = 3.0
    """Times the largest log of the rows before."""
    lasts: int = 4
    """Rows on end that must show it: where a policy goes where it never was, the model follows at once."""
    far: float = 3.0
    """Factor at which `few` rows are enough, or a world that is foreseen as ever."""
    few: int = 2
    """Rows on end, then."""
    foreseen: float = 0.9
    """Share of the next observation that is usually foreseen, if measured: else a gain goes with the policy."""
    surprise: float = 1.5
    """Times the usual error that one of these rows must be off by, if measured: else it is where the policy goes."""
    long: int = 64
    """Rows before in which the effect was clear, so that these two need not be asked: policies moved in them."""
    median: int = 8
    """Rows whose median shows what changes slowly."""
    crept: float = 1.1
    """Factor that it must leave behind, and `wide` times the largest log of such medians before."""
    wide: float = 3.0
    """Healthy runs of five tasks reached 3.2 to 4.7, but some of those rows were as ever: each must leave that log."""
    elsewhere: float = 2.0
    """Times the usual error from which on a slow change, or one told by `long` alone, is where the policy goes."""
    reread: float = 0.6
    """Error of a row, where actions are read as a slip on the way makes of them, over the one as they were handed over,
    that one row needs to be told. Actions cut to whole numbers come to 0.30 and 0.40, their part below 0 lost to 0.35
    and 0.38; unbroken rows of fifteen trainings whose actions are numbers are not below 1 (2026-11-26)."""
    steady: float = 0.7
    """The same of `on_end` rows on end by one reading: smooth actions that are late come to 0.64 (2026-11-26)."""
    on_end: int = 3
    """Rows on end, then."""
    known: int = 8
    """Rows before, at least, and at most `before`, in which actions as handed over explained best what follows."""
    right: float = 0.99
    """Error ratio that no row before may be below: 1 where all actions are at their bounds, but for rounding."""


PPO = synth.like("PPO")
ONE, UNCLEAR = synth.flat(1.0, 0.03), synth.flat(1.0, 0.4)
CUT, LOST = synth.after(0.4, synth.flat(0.2, 0.05), ONE), synth.after(0.4, synth.flat(0.2, 0.05), UNCLEAR)
USUAL = synth.clipped(synth.flat(1.0, 0.1), 0, 99)
OFF = synth.clipped(synth.after(0.4, synth.flat(4.0, 0.3), synth.flat(1.0, 0.1)), 0, 99)
SMOOTH = synth.after(0.6, synth.flat(0.65, 0.01), synth.flat(1.3, 0.05))
LATE, UNLIKE = synth.constant(13.0), synth.flat(3.0, 1.0)
THROWN = synth.after(0.4, synth.flat(90.0, 0.001), synth.flat(20.0, 0.001))
BACK = tuple(0.6 + 0.02 * n for n in range(20))
CASES = (
    fires("actions cut to a fifth", lambda: PPO({GAIN: CUT, SURPRISE: OFF, FORESEEN: synth.constant(0.99)})),
    fires("actions do three times as much", lambda: PPO({GAIN: synth.after(0.6, synth.flat(3.0, 0.2), ONE)})),
    fires(
        "a dead actuator in a world that is explained by a third, where the effect was clear for long",
        lambda: PPO(
            {GAIN: synth.after(0.8, synth.flat(0.0, 0.02), ONE), SURPRISE: USUAL, FORESEEN: synth.constant(0.3)}
        ),
    ),
    fires("an actuator that tires", lambda: PPO({GAIN: synth.ramp(1.0, 0.7, 0.01, 0.7), SURPRISE: USUAL})),
    near_miss(
        "rows that do less lie between rows that do as they did",
        lambda: PPO({GAIN: synth.after(0.6, synth.spikes(0.86, 1.03, BACK, 0.01), ONE), SURPRISE: USUAL}),
    ),
    near_miss(
        "a policy that goes where actions do something else",
        lambda: PPO({GAIN: synth.ramp(1.0, 0.7, 0.01, 0.7), SURPRISE: synth.ramp(1.0, 8.0, 0.1, 0.7)}),
    ),
    fires(
        "actions cut to whole numbers, in the first row",
        lambda: PPO({GAIN: synth.spikes(1.0, 0.1, (0.6,), 0.03), REREAD: synth.spikes(1.3, 0.3, (0.6,), 0.03)}),
    ),
    healthy("as before", lambda: PPO({GAIN: ONE})),
    healthy("as before, and by no other actions", lambda: PPO({GAIN: ONE, REREAD: synth.flat(1.3, 0.05)})),
    fires("smooth actions are late, in rows on end", lambda: PPO({GAIN: ONE, REREAD: SMOOTH, READING: LATE})),
    near_miss("better explained by other actions each time", lambda: PPO({GAIN: ONE, REREAD: SMOOTH, READING: UNLIKE})),
    near_miss("explained as well before", lambda: PPO({GAIN: ONE, REREAD: synth.spikes(0.97, 0.5, (0.6,), 0.02)})),
    near_miss("explained a little better", lambda: PPO({GAIN: ONE, REREAD: synth.spikes(1.3, 0.8, (0.6,), 0.03)})),
    near_miss("an effect that never was clear", lambda: PPO({GAIN: LOST})),
    near_miss("all that follows is foreseen", lambda: PPO({GAIN: CUT, SURPRISE: USUAL})),
    near_miss("a world explained by half", lambda: PPO({GAIN: CUT, SURPRISE: OFF, FORESEEN: synth.constant(0.5)})),
    near_miss(
        "weights were thrown about, and the policy with them",
        lambda: PPO({GAIN: CUT, SURPRISE: OFF, "net/weight_norm": THROWN}),
    ),
    near_miss("one odd row", lambda: PPO({GAIN: synth.spikes(1.0, 0.2, (0.6,), 0.03)})),
    near_miss(
        "two short rows of an excursion, and then as usual",
        lambda: PPO({GAIN: synth.spikes(1.0, 0.6, (0.8, 0.805), 0.03), SURPRISE: USUAL}),
    ),
    near_miss(
        "a policy that goes where it never was: the model follows at once",
        lambda: PPO({GAIN: synth.after(0.4, synth.after(0.42, ONE, synth.flat(0.6, 0.02)), ONE), SURPRISE: OFF}),
    ),
)


@rule(
    "ENV119",
    "action-effect-resized",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(GAIN,),
    min_points=10,
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
        a part, a multiple or the opposite of that; or what follows is explained by what a slip on the way makes of the
        actions (a cast, a clip, another number of a choice, a delay, several steps for one), and no longer by the
        actions themselves.

    Why it matters:
        What the policy has learned is no longer true of this environment. It answers by larger or smaller actions,
        which is all that other figures show.

    Usual causes:
        A scale of actions that a wrapper lost or applies twice; a cast to whole numbers or a wrong bound; choices that
        are counted from another one; a gain or a unit of an actuator; a worn or dead actuator; a queue of commands that
        fills; frames that are skipped twice, or another time step of the simulator.

    What to try:
        Give the same action in the same state before and after the change and compare the next observations.

    When it is harmless:
        Domain randomisation or another level that you switched on yourself.

    References:
        Ljung 1999, "System Identification", section 11.2 (the model that is followed).
    """
    points = view.get(GAIN)
    assert points is not None
    away: Floats = np.abs(np.log(np.maximum(points.value, LEAST)))
    borne = borne_out(points.step, away, 0.0)
    for place in resized(away, borne, params):
        at = float(points.step[place])
        known = _known_long(view, points, away, place, params) or _known_well(view, points, away, place, params)
        if weights_thrown(view, at) or not known:
            continue
        now = median(points.value[place : place + params.few])
        return Detection(
            message=f"actions do {now:.2g} times what they did",
            onset=view.onset(float(points.step[place - 1]), at),
            metric=GAIN,
            evidence={"gain": now, "largest_log_before": float(away[max(0, place - params.before) : place].max())},
        )
    return reread(view, params) or crept(view, points, away, params)


def reread(view: RunView, params: Params) -> Detection | None:
    """Answer for actions of which a slip on the way makes others: told by one row (of few steps: that is borne out)."""
    points, reading = view.get(REREAD), view.get(READING)
    if points is None:
        return None
    borne = 1 - borne_out(points.step, 1 - points.value, 0.0)
    told = (borne <= params.reread) | on_end(points, reading, params.steady, params.on_end)
    for place in np.flatnonzero(told).tolist():
        before, at = points.value[max(0, place - params.before) : place], float(points.step[place])
        if before.size < params.known or float(before.min()) < params.right or weights_thrown(view, at):
            continue
        share, what = float(points.value[place]), read_as(reading, at)
        return Detection(
            f"what follows is that of {what}: error {share:.0%} of that by the actions handed over",
            onset=view.onset(float(points.step[place - 1]), at),
            metric=REREAD,
            evidence={"error_ratio": share, "smallest_before": float(before.min())},
        )
    return None


def crept(view: RunView, points: Points, away: Floats, params: Params) -> Detection | None:
    """Answer for an effect that changes by degrees: the model follows, and is always a little late."""
    width = params.median
    if points.value.size < params.long + 2 * width:
        return None
    rows: Floats = np.lib.stride_tricks.sliding_window_view(np.log(np.maximum(points.value, LEAST)), width)
    middle = np.median(rows, axis=1)
    logs, least = np.abs(middle), (rows * np.sign(middle)[:, None]).min(axis=1)
    surprise, lasts = view.get(SURPRISE), np.arange(params.long + width, points.value.size)
    places = lasts - width + 1  # of the median of the rows up to each
    most, widest = np.maximum.accumulate(away[width:]), np.maximum.accumulate(logs[width:])
    clear = most[lasts - 2 * width - 1] <= 2 * params.clear
    usual = widest[places - 2 * width - 1]
    far = (logs[places] >= np.log(params.crept)) & (logs[places] >= params.wide * usual) & clear
    far &= least[places] >= usual
    for number in np.flatnonzero(far).tolist():
        since, at = float(points.step[places[number]]), float(points.step[lasts[number]])
        if weights_thrown(view, at) or (surprise is not None and _off(surprise, since, at) > params.elsewhere):
            continue
        gain = float(np.exp(middle[places[number]]))
        return Detection(
            message=f"actions do {gain:.2g} times what a model that follows says, row after row",
            onset=view.onset(since, at),
            metric=GAIN,
            severity=Severity.WARNING,
            evidence={"gain": gain, "largest_log_before": float(usual[number])},
        )
    return None


def resized(away: Floats, borne: Floats, params: Params) -> list[int]:
    """Return the rows from which on logs of the gain [n], either way, lie far from those before.

    Of `borne` [n] rows of few steps count no more than the next: eight steps after a reset say little of a world.
    """
    found: list[int] = []
    for place in np.flatnonzero(borne >= np.log(params.times)).tolist():
        before, now = away[max(0, place - params.before) : place], borne[place : place + params.few]
        if before.size < params.before or now.size < params.few:
            continue
        least = max(float(np.log(params.times)), params.apart * float(before.max()))
        if float(before.max()) <= params.clear and float(now.min()) >= least:
            found.append(place)
    return found


def _known_long(view: RunView, points: Points, away: Floats, place: int, params: Params) -> bool:
    """Whether the effect was clear for long, and the world is foreseen as ever."""
    before, surprise = away[max(0, place - params.long) : place], view.get(SURPRISE)
    if before.size < params.long or float(before.max()) > params.clear:
        return False
    at, last = float(points.step[place]), float(points.step[place + params.few - 1])
    if surprise is None:
        return _lasts(away, place, params)
    # Two early rows of few steps share a policy's short excursion; what is resized is not as usual right after them.
    stays = median(away[place : place + params.lasts]) >= float(np.log(params.times))
    return stays and not _off(surprise, at, last) > params.elsewhere


def _known_well(view: RunView, points: Points, away: Floats, place: int, params: Params) -> bool:
    """Whether the world was foreseen, and is no longer, by more than in any row before, where these are measured."""
    foreseen, surprise, at = view.get(FORESEEN), view.get(SURPRISE), float(points.step[place])
    usual, now = away[max(0, place - params.before) : place], away[place : place + params.few]
    if usual.max() > max(params.near, now.min() / params.farther) or not _lasts(away, place, params):
        return False
    before = np.ones(1) if foreseen is None else foreseen.value[foreseen.step < at][-params.before :]
    if before.size and median(before) < params.foreseen:
        return False
    first, last, until = (float(points.step[place + n]) for n in (-params.before, -1, params.few - 1))
    return surprise is None or not _off(surprise, at, until) < max(params.surprise, _off(surprise, first, last))


def _lasts(away: Floats, place: int, params: Params) -> bool:
    """Whether it stays, or is so far that it need not."""
    least, now = float(np.log(params.times)), away[place : place + params.lasts]
    return float(now[: params.few].min()) >= np.log(params.far) or bool(now.size == params.lasts and now.min() >= least)


def _off(surprise: Points, since: float, until: float) -> float:
    """Return the largest error of some rows, in times the usual one; NaN where none is known."""
    rows = surprise.value[(surprise.step >= since) & (surprise.step <= until)]
    return float(rows.max()) if rows.size else float("nan")
