"""The rule `ends-hidden`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `ends-hidden`."""

    ends: int = 1
    """Least number of ends that are not told of, by definition."""


CASES = (
    fires("the task ends, and no episode does", lambda: synth.wrapped(layers_ends_hidden=4.0)),
    healthy("the layers change nothing", synth.wrapped),
    near_miss("every end was told", lambda: synth.wrapped(layers_ends_hidden=0.0)),
)


@rule(
    "ENV072",
    "ends-hidden",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("episodes-at-time-limit", "reward-constant", "reward-flat", "steps-after-end"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Layers around a standard task do not tell the trainer that it has ended.

    What it means:
        The monitor played the first episodes again, action by action, in a copy of the bare task: it ended, and the
        trainer was told that the episode goes on.

    Why it matters:
        What a task's steps after its end mean is undefined; an end that costs nothing is not avoided.

    Usual causes:
        `terminated` dropped where two interfaces meet; a wrapper that makes a task endless.

    What to try:
        Print `terminated` before and after each wrapper at the end of an episode.

    When it is harmless:
        Where the layer resets the task itself and means the episode to go on.

    References:
        Towers et al. 2024, "Gymnasium", arXiv 2407.17032, on termination.
    """
    if view.config("layers_looked") is None:
        return Skip("whether layers change a standard task was not looked at (firstbreak.monitor.world)")
    ends = view.number("layers_ends_hidden")
    if ends is None or ends < params.ends:
        return None
    return Detection(
        message=f"the layers around {view.config('env_id')} hide {ends:.0f} of its first ends from the trainer",
        onset=view.onset(0.0),
        metric="episode/length_mean",
        evidence={"ends": ends},
    )
