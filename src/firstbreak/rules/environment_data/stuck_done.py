"""The rule `stuck-done`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `stuck-done`. Engineering defaults where no source is named."""

    run: int = 5
    """Consecutive logged points at exactly one step. Five points of 100 episodes each cannot all be chance."""
    before_steps: float = 3.0
    """Length in steps that the point before must have had for the drop to count as sudden (error, not warning)."""
    alike: int = 20
    """Points of one step that all earn the same, throughout: no bandit pays every arm alike. Engineering default."""
    limit_steps: float = 10.0
    """Time limit of the task, in steps, from which episodes of one step throughout are no bandit task."""


PPO = synth.like("PPO", drop=("reward/episode_return_mean",))
TASK = synth.like("PPO", drop=("reward/episode_return_mean",), config={"max_episode_steps": 500})
CASES = (
    fires("one step from the first row on", lambda: TASK({"episode/length_mean": synth.constant(1.0)})),
    fires(
        "every episode one step long after the first wave",
        lambda: PPO({"episode/length_mean": synth.after(0.2, synth.constant(1.0), synth.flat(60, 0.1))}),
    ),
    fires(
        "one step throughout, and always the same return",
        lambda: PPO({"episode/length_mean": synth.constant(1.0), "reward/episode_return_mean": synth.constant(0.0)}),
    ),
    healthy("episodes grow", lambda: PPO({})),
    near_miss(
        "a bandit: one step by design, and arms that differ",
        lambda: PPO({"episode/length_mean": synth.constant(1.0), "reward/episode_return_mean": synth.walk(0.4, 0.05)}),
    ),
    near_miss(
        "episodes shorten but not to one step",
        lambda: PPO({"episode/length_mean": synth.clipped(synth.ramp(60, 3, 0.02), 2, 100)}),
    ),
)


@rule(
    "ENV001",
    "stuck-done",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    any_of=(("episode/length_mean", "episode/length"),),
    when=("control",),
    params=Params(),
    cases=CASES,
    implies=("episodes-too-short", "reward-flat", "reward-constant", "return-collapse", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every episode is exactly one step long: earlier ones were longer, or all of them earn the same.

    What it means:
        After the first wave of episodes the environment reports `done` at once, again and again.

    Why it matters:
        The learner sees one transition per episode, mostly of a finished world; nothing it learns there is real.

    Usual causes:
        A vectorised environment that is not reset after `done`; a done flag that is never cleared; a reset that
        returns a terminal state.

    What to try:
        Step a counter environment through the collector: inside every transition the observation must grow by one.

    When it is harmless:
        Tasks of one step (bandits) have length 1 from the start; they are judged only where every one earns the same.

    References:
        Gymnasium documentation, "Autoreset modes" of vector environments.
    """
    length = view.get("episode/length_mean", "episode/length")
    assert length is not None
    over = persistent_onset(length.step, length.value == 1.0, params.run)
    if over is None:
        return None
    limit = view.number("max_episode_steps") or 1.0
    if length.max <= 1.0 and limit >= params.limit_steps:
        return Detection(
            message=f"every episode is exactly 1 step long ({length.total} points); the task allows {limit:.6g}",
            onset=view.onset(*over),
            metric=length.metric,
            evidence={"limit_steps": limit, "length_steps": 1.0},
        )
    if length.max <= 1.0:
        return all_alike(view, length, params)
    start = int(np.searchsorted(length.step, over[1]))
    if start == 0:
        return None
    before = float(length.value[start - 1])
    return Detection(
        message=f"episodes are exactly 1 step long from step {over[1]:.6g} on (before: {before:.3g} steps)",
        onset=view.onset(*over),
        metric=length.metric,
        evidence={"length_before_steps": before, "length_steps": 1.0},
        severity=Severity.ERROR if before >= params.before_steps else Severity.WARNING,
    )


def all_alike(view: RunView, length: Points, params: Params) -> Detection | None:
    """Judge episodes of one step from the first row on: a bandit would at least pay its arms differently."""
    earned = view.get("reward/episode_return_mean", "reward/episode_return")
    if earned is None or min(len(earned), len(length)) < params.alike or earned.max > earned.min:
        return None
    return Detection(
        message=f"every episode is exactly 1 step long and earns {earned.last:.3g} ({length.total} points)",
        onset=view.onset(float(length.source.step[0])),
        metric=length.metric,
        evidence={"length_steps": 1.0, "return": earned.last},
        severity=Severity.WARNING,
    )
