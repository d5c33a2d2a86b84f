"""The rule `values-jump`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import quantile
from firstbreak.view import Points, RunView

EXTREMES = ("critic/target_max", "critic/q_max", "critic/target_min", "critic/q_min")
MEANS = {"target": "critic/target_mean", "q": "critic/q_mean"}
ALPHA = "sac/alpha"


@dataclass(frozen=True)
class Params:
    """Thresholds of `values-jump`. Engineering defaults."""

    rows: int = 15
    """Earlier changes from row to row that say what is usual."""
    usual: float = 0.9
    """Their quantile that counts as usual."""
    jumps: float = 8.0
    """Times the usual change that the values must move and stay away by; in healthy runs 2.3 at most."""
    lasts: int = 4
    """Rows in a row that stay away."""
    slow: float = 0.5
    """Share of the way to the learned values that targets take in one update; from here on they are copies, and jump
    by design."""
    range: float = 0.1
    """Share of the range of a batch's values that the move must have where their mean stays: an extreme that comes
    from few states alone moves with the batch that drew them. Faults of the development half moved 0.11 and more, or
    the mean with it."""
    bonus: float = 0.2
    """Relative change of the temperature in one row that explains a jump: the entropy bonus is a part of the value."""


SAC = synth.like("SAC", config={"gamma": 0.99, "tau": 0.005})
SMOOTH = synth.ramp(1.0, 0.1, 0.01)
REST = {EXTREMES[0]: synth.flat(31.0, 0.001), MEANS["target"]: synth.flat(22.0, 0.01)}
CASES = (
    fires("a step down that stays", lambda: SAC({EXTREMES[0]: synth.after(0.6, synth.flat(-1.6, 0.02), SMOOTH)})),
    healthy("values drift", lambda: SAC({EXTREMES[0]: SMOOTH})),
    near_miss("one odd batch", lambda: SAC({EXTREMES[0]: synth.spikes(1.0, -1.6, at=(0.6,))})),
    near_miss(
        "the least target was that of a failure in nearly every batch; now rare states lie a little below it",
        lambda: SAC(REST | {EXTREMES[2]: synth.after(0.6, synth.flat(-1.2, 0.1), synth.flat(-0.18, 0.05))}),
    ),
    fires(
        "a little of the range, and the mean moves with it",
        lambda: SAC(
            REST
            | {EXTREMES[2]: synth.after(0.6, synth.flat(-1.2, 0.1), synth.flat(-0.18, 0.05))}
            | {MEANS["target"]: synth.after(0.6, synth.flat(18.0, 0.005), synth.flat(22.0, 0.01))}
        ),
    ),
    near_miss(
        "targets that are copied now and then",
        lambda: synth.like("SAC", config={"tau": 1.0})({EXTREMES[0]: synth.after(0.6, synth.flat(-1.6), SMOOTH)}),
    ),
    near_miss(
        "the temperature was raised",
        lambda: SAC({EXTREMES[0]: synth.after(0.6, synth.flat(9.0), SMOOTH), ALPHA: synth.jump(0.1, 1.0, 0.6)}),
    ),
)


@rule(
    "CRT021",
    "values-jump",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    any_of=(EXTREMES,),
    needs_config=("tau",),
    when=("control", "replay"),
    params=Params(),
    cases=CASES,
    implies=("q-divergence", "q-exceeds-return", "value-loss-explosion", "policy-loss-spike", "targets-shrink"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The largest or smallest value of a batch moved smoothly, and is elsewhere from one row to the next.

    What it means:
        Targets that follow the learned values by small steps let values move by little, whatever the rewards do. Here
        they moved many times as far as usual, and stayed.

    Why it matters:
        What is bootstrapped from is not what it was: the policy climbs other values than those that were learned.

    Usual causes:
        A target network that is a plain copy, or was reset; a discount, a temperature or a number of steps that was set
        anew; weights that were loaded; observations in other units.

    What to try:
        Log the distance of target and learned network, and the target of one fixed batch, before and after.

    When it is harmless:
        Resets of the networks that you make on purpose (Nikishin et al. 2022).

    References:
        Lillicrap et al. 2016, arXiv 1509.02971, section 3 (slow targets). Nikishin et al. 2022, arXiv 2205.07802.
    """
    tau = view.number("tau")
    if tau is None or tau >= params.slow:
        return Skip("targets are copies, which jump by design")
    for metric in EXTREMES:
        points = view.get(metric)
        place = None if points is None else stepped(points.value, params)
        if points is None or place is None:
            continue
        if explained(view, points, place, params) or of_few(view, points, place, params):
            continue
        was, now = float(points.value[place - 1]), float(points.value[place])
        return Detection(
            message=f"{metric} went from {was:.3g} to {now:.3g} in one row, though targets follow slowly",
            onset=view.onset(float(points.step[place - 1]), float(points.step[place])),
            metric=metric,
            evidence={"before": was, "now": now, "tau": tau},
        )
    return None


def stepped(value: Floats, params: Params) -> int | None:
    """The first row of `value` [n] that lies many usual changes away from the rows before, as do those after it."""
    change = np.abs(np.diff(value))
    if change.size < params.rows + params.lasts:
        return None
    end = change.size - params.lasts + 1
    now = change[params.rows : end]
    above = params.rows - int(
        params.usual * (params.rows - 1)
    )  # so many changes in a row cannot all be above the usual
    lowest = np.min([change[params.rows - back : end - back] for back in range(1, above + 1)], axis=0)
    for found in np.flatnonzero(now >= params.jumps * lowest):
        least = params.jumps * quantile(change[found : found + params.rows], params.usual)
        place = int(found) + params.rows + 1
        away = value[place : place + params.lasts] - np.median(value[place - 4 : place])
        if 0 < least <= now[found] and (away.min() > 0 or away.max() < 0) and np.abs(away).min() >= least:
            return place
    return None


def explained(view: RunView, points: Points, place: int, params: Params) -> bool:
    """Whether the temperature moved at the same time."""
    alpha = view.get(ALPHA)
    if alpha is None or len(alpha) < 2:
        return False
    at = np.interp([points.step[max(place - 2, 0)], points.step[place]], alpha.step, alpha.value)
    return bool(abs(at[1] - at[0]) > params.bonus * abs(at[0]))


def of_few(view: RunView, points: Points, place: int, params: Params) -> bool:
    """Whether the extreme moved by little of the batch's range and the mean stayed; unknown counts as no."""
    part = points.metric.removeprefix("critic/").split("_")[0]
    others = [view.get(name) for name in (f"critic/{part}_min", f"critic/{part}_max", MEANS[part])]
    if any(p is None or not np.array_equal(p.step, points.step) for p in others):
        return False
    low, high, mean = (p.value for p in others if p is not None)
    before, since = slice(place - params.lasts, place), slice(place, place + params.lasts)
    moved = np.abs(points.value[since] - np.median(points.value[before])).min()
    usual = quantile(np.abs(np.diff(mean[place - params.rows - 1 : place])), params.usual)
    away = mean[since] - np.median(mean[before])
    stayed = away.min() <= usual and away.max() >= -usual
    return bool(stayed and moved < params.range * np.median(high[before] - low[before]))
