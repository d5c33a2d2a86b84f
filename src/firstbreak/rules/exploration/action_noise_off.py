"""The rule `action-noise-off`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import Points, RunView

MEAN, SPREAD = "exploration/noise_mean", "exploration/noise_std"


@dataclass(frozen=True)
class Params:
    """Thresholds of `action-noise-off`; engineering defaults."""

    bias: float = 0.1
    """Mean of the noise, in units of the bound of actions, that matters. It must exceed the spread of the noise, too:
    the mean of some ten draws lies three times nearer to 0."""
    growth: float = 2.0
    """Spread of the noise over the largest of the opening. That of eight draws is known to a quarter."""
    rows: int = 8
    """Rows of the opening."""
    lasts: int = 3
    """Rows in a row that must show it."""


SAC = synth.like("SAC")
CASES = (
    fires("a mean of 0.8", lambda: SAC({MEAN: synth.jump(0.0, 0.8, noise=0.03), SPREAD: synth.flat(0.1, 0.02)})),
    fires(
        "it grows instead of falling",
        lambda: SAC(
            {MEAN: synth.flat(0.0, 0.03), SPREAD: synth.after(0.5, synth.ramp(0.1, 0.9, 0.02), synth.flat(0.1, 0.02))}
        ),
    ),
    healthy("as set", lambda: SAC({MEAN: synth.flat(0.0, 0.03), SPREAD: synth.flat(0.1, 0.02)})),
    near_miss("it falls", lambda: SAC({MEAN: synth.flat(0.0, 0.03), SPREAD: synth.ramp(0.5, 0.05, 0.01)})),
    near_miss(
        "wide noise, whose means scatter", lambda: SAC({MEAN: synth.flat(0.0, 0.15), SPREAD: synth.flat(0.5, 0.1)})
    ),
)


@rule(
    "EXP056",
    "action-noise-off",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(MEAN, SPREAD),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("return-collapse", "action-saturation", "smooth-decline", "return-falls-at-once"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The noise that explores pushes actions one way, or becomes larger.

    What it means:
        What is done, less what the actor says, was measured where the bounds of actions do not cut it off. Its mean is
        far from 0, or its spread has outgrown that of the run's opening.

    Why it matters:
        Noise with a mean is another policy: what it does well is learnt for actions that the actor does not take. Noise
        that grows leaves what was learnt untried.

    Usual causes:
        A schedule with the wrong sign; noise that is scaled in the units of the environment, or twice; a mean meant for
        one joint.

    What to try:
        Evaluate without noise; print mean and spread of the noise at the first and at the newest step.

    When it is harmless:
        A phase of exploration that was switched on purpose.

    References:
        Fujimoto, van Hoof and Meger 2018, arXiv 1802.09477, section 6.1 (noise with mean 0 and a fixed spread).
    """
    mean, spread = view.get(MEAN), view.get(SPREAD)
    assert mean is not None
    assert spread is not None
    width = np.interp(mean.step, spread.step, spread.value)
    for sign in (1, -1):
        onset = persistent_onset(mean.step, sign * mean.value >= np.maximum(params.bias, width), params.lasts)
        if onset is not None:
            return said(view, mean, onset, "the noise on actions has a mean of {:.2g} of their bound")
    if len(spread) <= params.rows + params.lasts:
        return None
    usual = float(spread.value[: params.rows].max())
    onset = persistent_onset(spread.step, spread.value >= params.growth * max(usual, 1e-6), params.lasts)
    return (
        None if onset is None else said(view, spread, onset, f"the noise on actions grew from {usual:.2g} to {{:.2g}}")
    )


def said(view: RunView, points: Points, onset: tuple[float, float], text: str) -> Detection:
    """Return the finding, with what is measured from its onset on."""
    now = float(np.median(points.value[points.step >= onset[1]]))
    return Detection(
        message=text.format(now), onset=view.onset(*onset), metric=points.metric, evidence={"now": now, "at": onset[1]}
    )
