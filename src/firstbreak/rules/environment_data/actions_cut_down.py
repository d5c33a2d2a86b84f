"""The rule `actions-cut-down`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `actions-cut-down`. Engineering default; the relation itself is exact."""

    reach: float = 0.5
    """Share of the task's range that actions must reach: below, most of what it can do is out of reach."""


CASES = (
    fires("a tenth of each action arrives", lambda: synth.wrapped(layers_action_reach=0.1)),
    fires("actions arrive with the other sign", lambda: synth.wrapped(layers_action_reach=-1.0)),
    healthy("actions arrive as they are", synth.wrapped),
    near_miss("a wrapper stretches -1 to 1 over the whole range", lambda: synth.wrapped(layers_action_reach=1.0)),
    near_miss("by design a little less than the whole range", lambda: synth.wrapped(layers_action_reach=0.8)),
)


@rule(
    "ENV071",
    "actions-cut-down",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("action-saturation", "return-below-start", "worse-than-random", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Layers around a standard task turn its actions round, or keep most of their range out of reach.

    What it means:
        The monitor played the first episodes again in a copy of the bare task. What the trainer saw follows from its
        actions only if each is multiplied with one and the same small or negative number.

    Why it matters:
        The best policy there is may not be playable: the trainer pushes against its bounds, and looks sound.

    Usual causes:
        A rescaling that is missing or done twice; a controller's limit in other units; a motor with the other polarity.

    What to try:
        `firstbreak preflight env ENV` sweeps each dimension; print an action before and after each wrapper.

    When it is harmless:
        Where the weaker or mirrored actuator is what is trained for.

    References:
        None; the relation is exact.
    """
    if view.config("layers_looked") is None:
        return Skip("whether layers change a standard task was not looked at (firstbreak.monitor.world)")
    reach = view.number("layers_action_reach")
    if reach is None or reach >= params.reach:
        return None
    return Detection(
        message=f"the layers around {view.config('env_id')} let through {reach:.3g} times its largest action",
        onset=view.onset(0.0),
        metric="env/action_response",
        evidence={"reach": reach},
    )
