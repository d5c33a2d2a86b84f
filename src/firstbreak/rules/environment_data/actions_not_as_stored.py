"""The rule `actions-not-as-stored`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import identity_broken, median
from firstbreak.view import RunView

FIT = "data/action_fit"


@dataclass(frozen=True)
class Params:
    """Thresholds of `actions-not-as-stored`: engineering defaults; right is 1 by construction."""

    right: float = 0.99
    """What the share must be before: all but rounding, and what a normaliser cuts off."""
    off: float = 0.9
    """Share from which on it is broken. Of choices it is the share that is the same."""
    held: int = 8
    """Rows on end in which it was right: where a wrapper changes it by design, nothing is said."""
    lasts: int = 2
    """Rows on end in which it is broken."""
    far: float = 0.5
    """Share at which one row is enough: no chance breaks an identity of dozens of steps so far."""


PPO = synth.like("PPO")
EXACT = synth.clipped(synth.flat(1.0, 1e-7), 0, 1)
CASES = (
    fires(
        "other actions are carried out from the middle on",
        lambda: PPO({FIT: synth.after(0.6, synth.clipped(synth.flat(0.4, 0.05), 0, 1), EXACT)}),
    ),
    healthy("as it should be", lambda: PPO({FIT: EXACT})),
    near_miss(
        "a wrapper that repeats actions from the start", lambda: PPO({FIT: synth.clipped(synth.flat(0.4, 0.1), 0, 1)})
    ),
    near_miss("one odd row", lambda: PPO({FIT: synth.spikes(1.0, 0.7, (0.6,), 0.0)})),
)


@rule(
    "ENV112",
    "actions-not-as-stored",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(FIT,),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=(
        "smooth-decline",
        "return-collapse",
        "reward-flat",
        "action-response-changed",
        "dynamics-changed",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The environment no longer gets the actions that are stored and learnt from.

    What it means:
        Step by step, the action that the environment was given was the stored one, but for a scale and an offset. From
        one row on it is another.

    Why it matters:
        What an action is credited with was earned by another one.

    Usual causes:
        A wrapper that maps, delays, repeats or clips actions; the action of another copy; noise that is added after the
        action was stored.

    What to try:
        Print, for a few steps, the action that `step` received beside the one that is stored.

    When it is harmless:
        Never, unless a safety layer that overrides actions was switched on by plan.

    References:
        None; the rule compares two quantities that are equal by construction.
    """
    points = view.get(FIT)
    assert points is not None
    right = points.value >= params.right
    onset = identity_broken(points.step, right, points.value <= params.off, held=params.held, lasts=params.lasts)
    at_once = identity_broken(points.step, right, points.value <= params.far, held=params.held, lasts=1)
    onset = min((one for one in (onset, at_once) if one is not None), default=None)
    if onset is None:
        return None
    now = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"the environment got what is stored in {now:.0%} of the actions (of their variance); it was all",
        onset=view.onset(*onset),
        metric=FIT,
        evidence={"same_frac": now},
    )
