"""The rule `autoreset-extra-step`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import from_start
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `autoreset-extra-step`. Engineering defaults where no source is named."""

    points: int = 3
    """Points that must show the extra step: an exact count needs no statistics."""


PPO = synth.like("PPO", config={"max_episode_steps": 200})
BARE = synth.like("PPO")
CASES = (
    fires(
        "one step more than the limit",
        lambda: PPO({"episode/length_mean": synth.clipped(synth.ramp(50, 400, 0.0), 0, 201)}),
    ),
    fires(
        "collector counts one step more than the monitor",
        lambda: BARE({"episode/length_mean": synth.constant(201.0), "episode/length": synth.constant(200.0)}),
    ),
    healthy(
        "stays at the limit", lambda: PPO({"episode/length_mean": synth.clipped(synth.ramp(50, 400, 0.0), 0, 200)})
    ),
    near_miss(
        "another limit than configured",
        lambda: PPO({"episode/length_mean": synth.clipped(synth.ramp(50, 400, 0.0), 0, 250)}),
    ),
)


@rule(
    "ENV013",
    "autoreset-extra-step",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    any_of=(("episode/length_mean", "episode/length"),),
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """Episodes hold exactly one step more than the environment makes.

    What it means:
        The logged length exceeds the time limit, or the monitor's own count, by exactly one.

    Why it matters:
        One transition per episode joins the last state of one episode with the first of the next: its action is
        ignored, its reward is 0, and its target is wrong.

    Usual causes:
        Vector environments that reset on the step after `done` (next-step autoreset) read as if they reset within it.

    What to try:
        Read the environment's autoreset mode and mask the reset step, or ask for same-step resets.

    When it is harmless:
        Where the extra row is masked out of the loss and only the count is off.

    References:
        Gymnasium documentation, "Autoreset modes" of vector environments.
    """
    mean, single = view.get("episode/length_mean"), view.get("episode/length")
    limit = view.number("max_episode_steps")
    for points in (mean, single):
        if points is None or limit is None:
            continue
        over = points.value == limit + 1
        if int(over.sum()) >= params.points and points.max == limit + 1:
            first = persistent_onset(points.step, over, 1)
            return Detection(
                message=f"episodes of {limit + 1:.0f} steps although the limit is {limit:.0f}",
                onset=view.onset(*first) if first is not None else from_start(view, points),
                metric=points.metric,
                evidence={"length_steps": points.max, "limit_steps": limit},
            )
    if mean is None or single is None or min(len(mean), len(single)) < params.points:
        return None
    if mean.min == mean.max and single.min == single.max and mean.max - single.max == 1:
        return Detection(
            message=f"collector counts {mean.max:.0f} steps an episode, the monitor {single.max:.0f}",
            onset=from_start(view, mean),
            metric=mean.metric,
            evidence={"length_steps": mean.max, "monitor_steps": single.max},
        )
    return None
