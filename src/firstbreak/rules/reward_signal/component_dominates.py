"""The rule `component-dominates`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, from_start
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `component-dominates`. Engineering defaults where no source is named."""

    share: float = 0.9
    """Share of the total's variance over the rows that goes with one component."""
    rows: int = 30
    """Rows that a covariance needs."""
    others: int = 2
    """Other components that must exist and pay something."""


GRPO = synth.like("GRPO")
CASES = (
    fires(
        "one of three carries everything",
        lambda: GRPO(
            {
                "reward/component@big": synth.ramp(0, 10, 0.02),
                "reward/component@small": synth.flat(0.2),
                "reward/component@tiny": synth.flat(0.05),
                "reward/train_mean": synth.ramp(0.25, 10.25, 0.02),
            }
        ),
    ),
    healthy(
        "two share the gain",
        lambda: GRPO(
            {
                "reward/component@a": synth.ramp(0, 0.5),
                "reward/component@b": synth.ramp(0, 0.5),
                "reward/component@c": synth.ramp(0, 0.3),
                "reward/train_mean": synth.ramp(0.0, 1.3),
            }
        ),
    ),
    near_miss(
        "only two components",
        lambda: GRPO(
            {
                "reward/component@accuracy": synth.ramp(0, 0.9),
                "reward/component@format": synth.flat(0.2),
                "reward/train_mean": synth.ramp(0.2, 1.1),
            }
        ),
    ),
)


@rule(
    "RWD011",
    "component-dominates",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    any_of=(TRAIN,),
    min_points=30,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """One reward component accounts for nearly all movement of the total.

    What it means:
        Over the rows, more than nine tenths of the total's variance goes with a single component of several.

    Why it matters:
        The other terms steer nothing; what they were added for is not trained. If the large one is a proxy, the run
        follows the proxy.

    Usual causes:
        Terms on different scales; a dense bonus next to a sparse goal.

    What to try:
        Drop the component for a short run; scale the terms by their spread before weighting.

    When it is harmless:
        When the large component is the task itself: this is a hint, never an alarm.

    References:
        Engineering defaults; covariance share as in a variance decomposition.
    """
    total = view.get(*TRAIN)
    assert total is not None
    parts = {n: p for n, p in view.family("reward/component").items() if len(p) == len(total) and p.max != p.min}
    if len(parts) <= params.others or len(total) < params.rows:
        return None if parts else Skip("reward components are not logged", ("reward/component",))
    variance = float(np.var(total.value))
    shares = {n: float(np.cov(p.value, total.value, bias=True)[0, 1]) / max(variance, 1e-300) for n, p in parts.items()}
    name = max(shares, key=lambda n: shares[n])
    if variance <= 0 or shares[name] < params.share or sum(s >= 0.5 for s in shares.values()) > 1:
        return None
    return Detection(
        message=f"component {name[:40]} carries {min(shares[name], 9.99):.0%} of the reward's movement"[:120],
        onset=from_start(view, parts[name]),
        metric=total.metric,
        evidence={"component": name, "variance_share": shares[name], "components": len(parts)},
    )
