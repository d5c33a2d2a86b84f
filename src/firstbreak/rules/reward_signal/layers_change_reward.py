"""The rule `layers-change-reward`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

LAG, LEVEL = "layers_reward_lag", "layers_reward_constant"
SIZES = "reward/env_distinct_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `layers-change-reward`."""

    steps: int = 1
    """Least delay that is told, by definition."""


CASES = (
    fires("rewards come twenty steps late", lambda: synth.wrapped(layers_reward_lag=20.0)),
    fires("one for every step", lambda: synth.wrapped(layers_reward_constant=1.0)),
    healthy("rewards are as the task pays them", synth.wrapped),
    near_miss("a wrapper scales rewards down", lambda: synth.wrapped(layers_reward_gain=0.01)),
)


@rule(
    "RWD070",
    "layers-change-reward",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("return-below-start", "worse-than-random", "reward-beyond-task", "reward-constant", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Layers around a standard task pay its reward late, or pay the same for every step.

    What it means:
        The monitor played the first episodes again, action by action, in a copy of the bare task. What the trainer was
        paid is, at every step, the task's reward of an earlier step, or one and the same number where the task's
        rewards differ.

    Why it matters:
        Credit goes to actions that came after those which earned it, or all actions are alike; the curves look like
        those of another task.

    Usual causes:
        A queue between simulator and trainer; rewards clipped to a bound below all of them.

    What to try:
        Print the reward of ten steps before and after each wrapper that the settings name.

    When it is harmless:
        Where this is what is studied. A positive factor is never told: scaling is usual.

    References:
        Arjona-Medina et al. 2019, "RUDDER", arXiv 1806.07857, on what delays cost; Mnih et al. 2015,
        doi 10.1038/nature14236, Methods, on rewards clipped to their sign.
    """
    if view.config("layers_looked") is None:
        return Skip("whether layers change a standard task's reward was not looked at (firstbreak.monitor.world)")
    lag, level = view.number(LAG), view.number(LEVEL)
    if lag is not None and lag >= params.steps:
        said, rests_on = f"pay its rewards {lag:.0f} steps late", lag
    elif level is not None:
        said, rests_on = f"pay {level:.4g} for every step; it pays differently", level
    else:
        return None
    return Detection(
        message=f"the layers around {view.config('env_id')} {said}",
        onset=view.onset(0.0),
        metric=SIZES if repeated(view) else "reward/env_mean",
        evidence={"found": rests_on},
    )


def repeated(view: RunView) -> bool:
    """Whether rewards are paid more than once, as those are that stand in for late or lost ones."""
    sizes = view.get(SIZES)
    return sizes is not None and len(sizes) > 0 and sizes.min < 1
