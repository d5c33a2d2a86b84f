"""The rule `discount-out-of-range`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, Skip, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """The bounds are those of the definition."""


IN_FORCE = "critic/discount"
PPO = synth.like("PPO", config={"gamma": 0.99})

CASES = (
    fires("more than 1", lambda: synth.like("DQN", config={"gamma": 1.02})({})),
    fires("below 0", lambda: synth.like("PPO", config={"gamma": -0.9})({})),
    fires("1.2 in force from the middle on", lambda: PPO({IN_FORCE: synth.jump(0.99, 1.2, at=0.5, noise=0)})),
    healthy("0.99", lambda: PPO({})),
    healthy("0.99 in force", lambda: PPO({IN_FORCE: synth.constant(0.99)})),
    near_miss("a schedule that raises it", lambda: PPO({IN_FORCE: synth.ramp(0.9, 0.999, 0.0)})),
    near_miss("1, of episodes that end", lambda: synth.like("PPO", config={"gamma": 1.0})({})),
    near_miss("0, a bandit", lambda: synth.like("DQN", config={"gamma": 0.0})({})),
)


@rule(
    "CRT016",
    "discount-out-of-range",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "value-loss-explosion",
        "q-divergence",
        "q-exceeds-return",
        "q-over-bound",
        "return-scale-unnormalised",
        "alpha-runaway",
        "critic-gradient-explosion",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The discount is no discount: above 1, or negative.

    What it means:
        The settings hold a gamma outside [0, 1], or the one that is in force has left that range.

    Why it matters:
        Above 1 the bootstrapped target grows with every update, whatever the rewards are: values have no fixed point.

    Usual causes:
        A slip of the decimal point; a schedule of gamma that overshoots; gamma and another setting exchanged.

    What to try:
        Set it to 0.99 (half of a reward's weight is left after 69 steps) and start the critic anew.

    When it is harmless:
        Never with bootstrapping.

    References:
        Sutton and Barto 2018, "Reinforcement Learning", section 3.3.
    """
    gamma, logged = view.number("gamma"), view.get(IN_FORCE)
    if gamma is None and logged is None:
        return Skip("the discount is not known", (IN_FORCE, "config gamma"))
    if "control" not in traits_of(view.algorithm):
        return None
    if logged is not None:  # what is in force wins over what was set
        outside = (logged.value < 0) | (logged.value > 1)
        over = persistent_onset(logged.step, outside, 1)
        if over is None:
            return None
        gamma, at = float(logged.value[outside][0]), over
    elif gamma is None or 0 <= gamma <= 1:
        return None
    else:  # not asked of a sound run: a monitor would have to put every series together
        at = min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0), None
    return Detection(
        message=f"gamma is {gamma:g}; a discount lies between 0 and 1",
        onset=view.onset(*at),
        metric="critic/target_mean" if logged is None else IN_FORCE,
        evidence={"gamma": gamma},
    )
