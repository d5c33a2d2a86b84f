"""The rule `twin-q-apart`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `twin-q-apart`; engineering defaults where no source is named."""

    share: float = 0.5
    """Gap between the critics over the largest |Q| seen so far. The smaller of two such critics
    is half wrong whichever is right."""
    growth: float = 3.0
    """How much wider than earlier the gap must be, so that two untrained critics are not judged."""
    updates: int = 10
    """Consecutive points with such a gap."""
    rests: float = 0.1
    """Range of one critic's values over the other's, at which only one of them is trained. In 193 healthy or
    otherwise broken recorded runs (ordinary logs and the development half of the fault benchmark, 2026-11-26) it is 0.6
    or more, in two with such a fault at most 0.02."""


SAC = synth.like("SAC")

CASES = (
    fires("second critic runs away", lambda: SAC({"critic/q2_mean": synth.ramp(-20, -600, 0.02, begin=0.4)})),
    fires(
        "per-sample gap opens",
        lambda: SAC({"critic/twin_gap": synth.geometric(0.5, 300, 0.05)}),
    ),
    fires(
        "the second is not trained",
        lambda: SAC({"critic/q_mean": synth.ramp(0.8, -0.3, 0.05), "critic/q2_mean": synth.flat(-0.01, 0.3)}),
    ),
    healthy("two critics side by side", lambda: SAC({})),
    near_miss("a tenth apart", lambda: SAC({"critic/q2_mean": synth.ramp(-22, -77, 0.05)})),
    near_miss(
        "apart at the start only",
        lambda: SAC({"critic/q_mean": synth.ramp(3, -70, until=0.3), "critic/q2_mean": synth.ramp(-3, -71, until=0.3)}),
    ),
)


@rule(
    "CRT008",
    "twin-q-apart",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    any_of=(("critic/twin_gap", "critic/q2_mean"), ("critic/q_mean", "critic/q2_mean")),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("value-loss-explosion",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The two critics disagree by more than half of what they estimate and ever more, or only one of them moves.

    What it means:
        Twins that learn the same targets must come together; here one of them learns something else, or nothing.

    Why it matters:
        The smaller value is taken everywhere, so the worse critic decides.

    Usual causes:
        Own optimiser with another learning rate; gradients of one critic cut or doubled; target of one not updated;
        one critic diverging; an optimiser that holds the parameters of one critic only.

    What to try:
        Log both losses and gradient norms on the same batch; the odd one out is the fault.

    When it is harmless:
        At the start, when both are untrained.

    References:
        Fujimoto et al. 2018, arXiv 1802.09477, section 4.2.
    """
    first, second, gap = view.get("critic/q_mean"), view.get("critic/q2_mean"), view.get("critic/twin_gap")
    levels = [p for p in (first, second) if p is not None and len(p)]
    if not levels:
        return Skip("no Q value is logged to compare the gap with", ("critic/q_mean",))
    if gap is not None and len(gap):
        step, apart, metric = gap.step, gap.value, gap.metric
    elif first is not None and second is not None:
        step, at_first, at_second = np.intersect1d(first.step, second.step, return_indices=True)
        apart, metric = np.abs(first.value[at_first] - second.value[at_second]), second.metric
    else:
        return Skip("only one of the two critics is logged", ("critic/q_mean", "critic/q2_mean"))
    if apart.size < 3 * params.updates:
        return None
    scale = max(max(abs(p.max), abs(p.min)) for p in levels)
    if first is not None and second is not None and (still := at_rest(view, first, second, params)) is not None:
        return still
    before = median(apart[: apart.size // 3])
    wide = (apart > params.share * scale) & (apart > params.growth * before)
    over = persistent_onset(step, wide, params.updates)
    if over is None or not wide[-params.updates :].all():
        return None
    now = median(apart[-params.updates :])
    return Detection(
        message=f"the two critics differ by {now:.3g}, {now / scale:.0%} of the largest |Q| seen",
        onset=view.onset(*over),
        metric=metric,
        evidence={"gap": now, "q_abs_max": scale, "gap_before": before},
    )


def at_rest(view: RunView, first: Points, second: Points, params: Params) -> Detection | None:
    """Return that one of the twins stays where it began while the other moves."""
    ranges = {points.metric: points.max - points.min for points in (first, second)}
    still, moving = sorted(ranges, key=lambda name: ranges[name])
    if ranges[moving] <= 0 or ranges[still] > params.rests * ranges[moving]:
        return None
    return Detection(
        message=f"{still} moved by {ranges[still]:.2g} in the whole run, its twin by {ranges[moving]:.2g}",
        onset=view.onset(float(first.step[0]), float(first.step[params.updates])),
        metric=still,
        evidence={"moved": ranges[still], "twin_moved": ranges[moving]},
    )
