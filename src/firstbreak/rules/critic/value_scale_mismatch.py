"""The rule `value-scale-mismatch`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import linear_trend, median, persistent_onset
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `value-scale-mismatch`; engineering defaults where no source is named."""

    spreads: float = 1.0
    """Distance of the mean value from the mean return target, in standard deviations of the targets. Past 1 the offset
    alone is larger than all that the critic has to explain."""
    share: float = 0.5
    """The same over the size of the mean target, used where their spread is not logged. Engineering default."""
    floor: float = 0.05
    """Share of the mean target under which an offset is none: where every return is alike, their spread is next to
    nothing and any lag exceeds it (fault benchmark, development half, a solved CartPole)."""
    fitted: float = 0.5
    """Explained variance above which it is a hint only: values and targets may be logged in different units."""
    updates: int = 20
    """Consecutive updates that it must last, after as many at the start."""
    climbs: float = 4.0
    """z of the values' own way towards the target over the second half of the run, from which they follow a target
    that moves ahead of them. Engineering default."""
    way: float = 0.125
    """Least part of the gap that they go in that half. Values in units ten times too small go a twentieth of it when
    their targets double. Engineering default."""
    tracks: float = 0.5
    """Least change of the values with a change of their targets by 1, in the second half of the run: in the same units
    a critic that keeps its distance follows them one for one. Engineering default."""
    margin: float = 1.1
    """Factor on the gap that bootstrapping leaves, for means over few rows. Engineering default."""


PPO = synth.like("PPO")
TARGETS = {"return/mean": synth.ramp(20, 100, until=0.8), "return/std": synth.flat(20)}


def sawtooth(end: float) -> synth.Shape:
    """Values [n] that go to `end` as a line does from ten before it, up and down by 1.5 with the ends of episodes."""
    return lambda t, rng: end + 10 * (1 - t) + 1.5 * np.sin(60 * t) + 0.1 * rng.standard_normal(t.size)


STEPS, BEHIND = sawtooth(-24.0), sawtooth(-13.0)
COSTLY = synth.like("PPO", config={"gamma": 0.99, "gae_lambda": 0.95})
EACH = {"reward/env_mean": synth.constant(-1.0), "return/std": synth.flat(4.0)}


CASES = (
    fires("values stay near 0", lambda: PPO({**TARGETS, "critic/value_mean": synth.flat(1.0)})),
    fires("no spread logged", lambda: PPO({"return/mean": synth.flat(-90), "critic/value_mean": synth.flat(-9)})),
    fires(
        "values in units ten times too small rise with their targets",
        lambda: PPO({**TARGETS, "critic/value_mean": synth.ramp(2, 10, until=0.8)}),
    ),
    healthy("values follow returns", lambda: PPO({**TARGETS, "critic/value_mean": synth.ramp(19, 98, until=0.8)})),
    near_miss(
        "catching up",
        lambda: PPO({"return/mean": synth.flat(90), "critic/value_mean": synth.ramp(0, 88, until=0.9)}),
    ),
    near_miss(
        "a slow critic behind returns that rise",
        lambda: PPO(
            {
                "return/mean": synth.ramp(8, 22, 0.02),
                "return/std": synth.flat(6.0),
                "critic/value_mean": synth.ramp(0.0, 13.5, 0.02),
            }
        ),
    ),
    near_miss(
        "a slow critic: targets are as far ahead as its own values put them",
        lambda: COSTLY({**EACH, "return/mean": STEPS, "critic/value_mean": BEHIND}),
    ),
    fires(
        "targets farther ahead than its own values can put them",
        lambda: COSTLY({**EACH, "return/mean": synth.ramp(-80, -90), "critic/value_mean": BEHIND}),
    ),
    fires(
        "values at rest while their targets move on",
        lambda: COSTLY({**EACH, "return/mean": STEPS, "critic/value_mean": synth.flat(-9.0, 0.01)}),
    ),
    near_miss(
        "all returns alike",
        lambda: PPO(
            {
                "return/mean": synth.flat(99.0, 0.0),
                "return/std": synth.flat(0.05, 0.0),
                "critic/value_mean": synth.flat(98.8, 0.0),
            }
        ),
    ),
    near_miss("lags by half a spread", lambda: PPO({**TARGETS, "critic/value_mean": synth.ramp(12, 90, until=0.8)})),
)


@rule(
    "CRT011",
    "value-scale-mismatch",
    link=Link.CRITIC,
    component=Component.NORMALISER,
    severity=Severity.WARNING,
    needs=("critic/value_mean", "return/mean"),
    min_points=40,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("advantage-mean-biased", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The values live on another scale than the returns they are fitted to, and do not approach them.

    What it means:
        The mean value differs from the mean return target by more than the targets' own spread, update after update.

    Why it matters:
        Explained variance cannot see an offset; advantages then carry it, and every action looks good or bad at once.

    Usual causes:
        A return normaliser applied on one side only; value clipping or a learning rate far too small for the scale
        of the returns; output layer started at 0 with returns in the hundreds.

    What to try:
        Log mean and spread of values and targets of one batch side by side, both in the same units.

    When it is harmless:
        While the critic is still catching up: a gap that closes is not judged, nor are values that go after a target
        that moves ahead of them, nor a gap no wider than targets made of these very values leave.

    References:
        van Hasselt et al. 2016, arXiv 1602.07714 (PopArt). Schulman et al. 2016, arXiv 1506.02438, eq. 16.
        Andrychowicz et al. 2020, arXiv 2006.05990.
    """
    value, target = view.get("critic/value_mean"), view.get("return/mean")
    assert value is not None
    assert target is not None
    if len(value) < 2 * params.updates or len(target) < 2:
        return None
    aim = np.interp(value.step, target.step, target.value)
    spread = view.get("return/std")
    if spread is not None and len(spread):
        unit = params.spreads * np.interp(value.step, spread.step, spread.value)
    else:
        unit = params.share * np.abs(aim)
    gap = np.abs(value.value - aim)
    unit = np.maximum(unit, params.floor * np.abs(aim))
    wide = (gap > unit) & (unit > 0) & (np.arange(len(value)) >= params.updates)
    over = persistent_onset(value.step, wide, params.updates)
    recent = slice(-params.updates, None)
    relative = gap[recent] / np.maximum(unit[recent], 1e-300)
    if over is None or not wide[recent].all() or linear_trend(value.step[recent], relative).z < -3:
        return None
    if follows(value, aim, params) or bootstrapped(view, value, aim, params):
        return None
    ev = view.get("critic/explained_variance")
    fits = ev is not None and len(ev) > 0 and median(ev.value[recent]) > params.fitted
    return Detection(
        message=f"mean value {median(value.value[recent]):.3g} stays off the target {median(aim[recent]):.3g}",
        onset=view.onset(*over),
        metric=value.metric,
        evidence={"value_mean": median(value.value[recent]), "target_mean": median(aim[recent])},
        severity=Severity.INFO if fits else None,
    )


def follows(value: Points, aim: Floats, params: Params) -> bool:
    """Whether the values of the second half go towards the target, a good part of what is left.

    A slow critic behind returns that rise keeps its distance and is on its way all the same.
    """
    half = len(value) // 2
    line = linear_trend(value.step[half:], value.value[half:])
    gap = float(median(aim[-params.updates :]) - median(value.value[-params.updates :]))
    return line.change * gap > 0 and abs(line.change) >= params.way * abs(gap) and abs(line.z) >= params.climbs


def bootstrapped(view: RunView, value: Points, aim: Floats, params: Params) -> bool:
    """Whether values that move with their targets are no farther from them than bootstrapping puts these ahead.

    Targets of generalised advantage estimation lie (r - (1 - gamma) V) / (1 - gamma lambda) beyond values V that are
    the same everywhere, where every step pays r; a rollout that ends earlier leaves less.
    """
    gamma, lam, paid = view.number("gamma"), view.number("gae_lambda"), view.get("reward/env_mean")
    if gamma is None or lam is None or paid is None or not len(paid) or gamma * lam >= 1:
        return False
    half, recent = len(value) // 2, slice(-params.updates, None)
    moved = aim[half:] - aim[half:].mean()
    power = float(np.dot(moved, moved))
    if power <= 0 or float(np.dot(moved, value.value[half:])) < params.tracks * power:
        return False
    now = median(value.value[recent])
    reward = median(paid.value[paid.step >= value.step[recent][0]])
    implied = (reward - (1 - gamma) * now) / (1 - gamma * lam)
    gap = median(aim[recent]) - now
    return gap * implied > 0 and abs(gap) <= params.margin * abs(implied)
