"""The rule `discount-short`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `discount-short`."""

    horizon: float = 4.0
    """Effective horizon 1 / (1 - gamma) in steps, that is gamma below 0.75. Tuned settings for control lie between 0.9
    and 0.9999 (Raffin 2020, RL Baselines3 Zoo)."""
    times: float = 5.0
    """Episodes so many times longer, at the median, have rewards that nothing weighs. Engineering default."""


LENGTH = "episode/length_mean"
SHORT = synth.like("DQN", config={"gamma": 0.3})

CASES = (
    fires("0.3 in episodes of 150 steps", lambda: SHORT({LENGTH: synth.flat(150, 0.05)})),
    healthy("0.99", lambda: synth.like("DQN", config={"gamma": 0.99})({LENGTH: synth.flat(150, 0.05)})),
    near_miss("0.3 in a game of three moves", lambda: SHORT({LENGTH: synth.flat(3, 0.05)})),
    near_miss("0 in a bandit", lambda: synth.like("DQN", config={"gamma": 0.0})({LENGTH: synth.constant(1.0)})),
)


@rule(
    "CRT017",
    "discount-short",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    any_of=((LENGTH, "episode/length"),),
    needs_config=("gamma",),
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "return-collapse", "action-std-growth"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The discount looks only a few steps ahead in episodes that are many times longer.

    What it means:
        1 / (1 - gamma), the number of steps whose rewards count, is under four, and episodes are far longer.

    Why it matters:
        What an action brings later is worth nothing to the critic: balancing, saving and every delayed reward.

    Usual causes:
        A value from a bandit or a toy; gamma and lambda exchanged; a discount per second used per step.

    What to try:
        gamma = 0.99, all else unchanged: the return must rise within the usual time.

    When it is harmless:
        Where the reward of each step says all about the action (tracking a target), a short horizon is a choice.

    References:
        Andrychowicz et al. 2020, arXiv 2006.05990, section 3.6 (the discount, among how steps are handled).
    """
    gamma, length = view.number("gamma"), view.get(LENGTH, "episode/length")
    assert length is not None
    if gamma is None or not 0 <= gamma < 1 or not len(length):
        return Skip("the discount is not known", ("config gamma",))
    horizon, usual = 1 / (1 - gamma), median(length.value)
    if horizon >= params.horizon or usual < params.times * horizon:
        return None
    return Detection(
        message=f"gamma {gamma:g} looks {horizon:.2g} steps ahead; episodes last {usual:.3g}",
        onset=view.onset(float(length.source.step[0])),
        metric=length.metric,
        evidence={"gamma": gamma, "horizon_steps": horizon, "episode_length_steps": usual},
    )
