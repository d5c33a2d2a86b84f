"""The rule `reward-negated`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-negated`."""

    gain: float = 0.0
    """Factor on the rewards below which what the task rewards is punished, by definition."""


CASES = (
    fires("a wrapper pays the negative of the reward", lambda: synth.wrapped(layers_reward_gain=-1.0)),
    healthy("rewards are as the task pays them", synth.wrapped),
    near_miss("a wrapper scales rewards down", lambda: synth.wrapped(layers_reward_gain=0.01)),
    near_miss("late, and of the right sign", lambda: synth.wrapped(layers_reward_lag=5.0)),
)


@rule(
    "RWD071",
    "reward-negated",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("return-below-start", "worse-than-random", "reward-beyond-task", "reward-sign-turned", "smooth-decline"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Layers around a standard task pay a negative multiple of its reward.

    What it means:
        The monitor played the first episodes again, action by action, in a copy of the bare task. At every step the
        trainer was paid the task's reward times one and the same negative number.

    Why it matters:
        A sound trainer then learns what the task punishes; its curves look like learning.

    Usual causes:
        A cost taken for a reward; a sign that is turned in two places, or in one; an adversary's wrapper left in.

    What to try:
        Print the reward of ten steps before and after each wrapper that the settings name.

    When it is harmless:
        Where the worst that can happen is what is looked for.

    References:
        None; the relation is exact.
    """
    if view.config("layers_looked") is None:
        return Skip("whether layers change a standard task's reward was not looked at (firstbreak.monitor.world)")
    gain = view.number("layers_reward_gain")
    if gain is None or gain >= params.gain:
        return None
    return Detection(
        message=f"the layers around {view.config('env_id')} pay {gain:.4g} times its reward",
        onset=view.onset(0.0),
        metric="reward/env_mean",
        evidence={"gain": gain},
    )
