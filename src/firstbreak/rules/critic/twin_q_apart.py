"""The rule `twin-q-apart`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


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


SAC = synth.like("SAC")

CASES = (
    fires("second critic runs away", lambda: SAC({"critic/q2_mean": synth.ramp(-20, -600, 0.02, begin=0.4)})),
    fires(
        "per-sample gap opens",
        lambda: SAC({"critic/twin_gap": synth.geometric(0.5, 300, 0.05)}),
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
    """The two critics disagree by more than half of what they estimate, and the gap has opened during training.

    What it means:
        Twins that learn the same targets must come together; here one of them learns something else.

    Why it matters:
        The smaller value is taken everywhere, so the worse critic decides.

    Usual causes:
        Own optimiser with another learning rate; gradients of one critic cut or doubled; target of one not updated;
        one critic diverging.

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
