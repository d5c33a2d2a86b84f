"""The rule `advantage-outliers`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantage-outliers`; engineering defaults where no source is named."""

    spreads: float = 20.0
    """Largest advantage of a batch in standard deviations. 4,096 Gaussian advantages reach 3.8, those with the heavy
    tail of Student's t with 2 degrees of freedom about 16; the most possible is (n - 1) / sqrt(n)."""
    growth: float = 3.0
    """How far above its own opening that ratio must have risen to be more than a hint: a sparse reward has it from
    the start."""
    updates: int = 5
    """Consecutive updates."""


PPO = synth.like("PPO")

CASES = (
    fires(
        "tail appears",
        lambda: PPO({"advantage/abs_max": synth.jump(4, 45, at=0.5), "advantage/std": synth.flat(1)}),
    ),
    fires("there from the start", lambda: PPO({"advantage/max": synth.flat(30), "advantage/std": synth.flat(1)})),
    healthy("Gaussian", lambda: PPO({"advantage/abs_max": synth.flat(4, 0.1), "advantage/std": synth.flat(1)})),
    near_miss(
        "large rewards, ordinary shape",
        lambda: PPO({"advantage/abs_max": synth.flat(9000, 0.1), "advantage/std": synth.flat(2000)}),
    ),
    near_miss(
        "single outliers",
        lambda: PPO({"advantage/abs_max": synth.spikes(4, 60, at=(0.2, 0.7)), "advantage/std": synth.flat(1)}),
    ),
)


@rule(
    "POL010",
    "advantage-outliers",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.WARNING,
    any_of=(("advantage/abs_max", "advantage/max"),),
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("policy-loss-spike", "grad-norm-explosion", "ratio-tail"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Single advantages are tens of standard deviations large, update after update.

    What it means:
        The largest advantage of a batch lies far outside what its spread allows for ordinary tails.

    Why it matters:
        A few samples set the direction of the update; after normalisation the others are almost silenced.

    Usual causes:
        Reward outliers; a value function that fails at single states; episode ends treated as ordinary steps.

    What to try:
        Print reward, value and done flag of the ten largest samples of one batch.

    When it is harmless:
        With rare rewards by design: such a run shows it from its first update and gets only a hint.

    References:
        Andrychowicz et al. 2020, arXiv 2006.05990, section 3.3.
    """
    spread = view.get("advantage/std")
    if spread is None or len(spread) == 0:
        return Skip("the largest advantage means nothing without the spread", ("advantage/std",))
    top = view.get("advantage/abs_max", "advantage/max")
    assert top is not None
    width = np.interp(top.step, spread.step, spread.value)
    ratio = np.abs(top.value) / np.maximum(width, 1e-300)
    over = persistent_onset(top.step, (ratio > params.spreads) & (width > 0), params.updates)
    if over is None:
        return None
    grown = median(ratio[-params.updates :]) > params.growth * median(ratio[: params.updates])
    worst = float(ratio[(top.step >= over[1]) & (width > 0)].max())
    return unless_harder(
        view,
        Detection(
            message=f"largest advantage is {worst:.3g} standard deviations of its batch",
            onset=view.onset(*over),
            metric=top.metric,
            evidence={"max_in_spreads": worst, "limit": params.spreads},
            severity=None if grown else Severity.INFO,
        ),
    )
