"""The rule `custom-metric-worsens`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import began, moved, stretches
from firstbreak.stats import linear_trend, mad, median
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `custom-metric-worsens`: engineering defaults.

    Checked on 120 rows of noise without a trend, replayed over all ticks: it fires on none of 200 runs of white noise,
    on 1 % of AR(1) at rho 0.8 and on 7 % at rho 0.95. It sees a step of 20 % at 3 % noise in every one of 30 runs.
    """

    rows: int = 40
    """Points that a drift test needs."""
    z: float = 8.0
    """Standard errors between opening and now, inflated for autocorrelation."""
    spreads: float = 4.0
    """The same in robust standard deviations of single points in the opening: beyond what one point may do."""
    persistence: float = 0.9
    """Share of the points in `window` that must be worse than nine tenths of the opening."""
    window: float = 0.3
    """Share of the run, at its end, over which it must have lasted."""


SCORED = synth.like("PPO", custom={"custom/score": {"key": "score", "link": "reward_signal", "better": "higher"}})
COSTED = synth.like("PPO", custom={"custom/cost": {"key": "cost", "link": "", "better": "lower"}})
UNTOLD = synth.like("PPO", custom={"custom/score": {"key": "score", "link": "", "better": ""}})

CASES = (
    fires("score falls", lambda: SCORED({"custom/score": synth.ramp(0.8, 0.3, 0.03)})),
    fires("cost jumps", lambda: COSTED({"custom/cost": synth.jump(5.0, 9.0, at=0.6)})),
    healthy("score rises", lambda: SCORED({"custom/score": synth.ramp(0.3, 0.8, 0.03)})),
    near_miss("noise that wanders", lambda: SCORED({"custom/score": synth.walk(0.5, 0.05)})),
    near_miss(
        "a dip that passes",
        lambda: SCORED(
            {"custom/score": synth.after(0.55, synth.flat(0.8), synth.after(0.45, synth.flat(0.6), synth.flat(0.8)))}
        ),
    ),
    near_miss("no direction is stated", lambda: UNTOLD({"custom/score": synth.ramp(0.8, 0.3, 0.03)})),
)


@rule(
    "EVA012",
    "custom-metric-worsens",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """A metric that the user declared, with its better direction, has left its opening level for the worse.

    What it means:
        The median of the recent points is worse than that of the first ones, beyond the noise of both, and nearly
        every point of the last third is.

    Why it matters:
        It was declared because it counts; firstbreak does not know what it means and so cannot say why it worsens.
        The message names the link of the loop that the settings give.

    Usual causes:
        What the metric measures is traded for the reward; a later stage of the curriculum; a fault further out that
        other findings show.

    What to try:
        Put the metric beside the reward and the length on one axis; score the first and the newest checkpoint on the
        same inputs.

    When it is harmless:
        The first points were lucky or easy, or the metric's scale was changed in the middle of the run.

    References:
        Tests of level against level: Hotelling and Solomons 1932 on medians; inflation for autocorrelation as in
        Bayley and Hammersley 1946.
    """
    declared = [(s.metric, s.custom) for s in view.log.series if s.custom.get("better") in ("higher", "lower")]
    if not declared:
        return Skip("does not apply: the settings declare no metric with a direction")
    looked = [(points, custom) for name, custom in declared if (points := view.get(name)) is not None]
    enough = [(points, custom) for points, custom in looked if len(points) >= params.rows]
    if not enough:
        return Skip(f"no declared metric has {params.rows} points", ("more points (log oftener or run longer)",))
    worse = [(worsening(points, str(custom["better"]), params), points, custom) for points, custom in enough]
    z, points, custom = max(worse, key=lambda item: item[0])
    if z <= 0.0:
        return None
    change = moved(points)
    key, link = str(custom.get("key") or points.metric), str(custom.get("link") or "")
    shown = key if len(key) <= 40 else f"{key[:37]}..."
    place = f"{custom['better']} is better" + (f", {link}" if link else "")
    return Detection(
        message=f"{shown} ({place}) went from {change.reference:.4g} to {change.recent:.4g}",
        onset=began(view, points),
        metric=points.metric,
        evidence={
            "key": key,
            "declared_link": link,
            "opening": change.reference,
            "recent": change.recent,
            "z": z,
            "worse_metrics": sum(found > 0 for found, _, _ in worse),
        },
    )


def worsening(points: Points, better: str, params: Params) -> float:
    """Return by how many standard errors the metric is worse than in its opening, 0 where it is not, or not surely."""
    sign = -1.0 if better == "higher" else 1.0
    change, line = moved(points), linear_trend(points.step, points.value)
    before, now = (sign * part for part in stretches(points.value))
    spread = max(mad(before), float(before.std()) / 3)
    far = median(now) - median(before) > params.spreads * spread
    late = sign * points.value[-max(len(now), int(params.window * len(points))) :]
    lasting = float(np.mean(late > np.quantile(before, 0.9))) >= params.persistence
    sure = sign * change.z >= params.z and sign * line.z > 0
    return sign * change.z if far and lasting and sure else 0.0
