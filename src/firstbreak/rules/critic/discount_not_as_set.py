"""The rule `discount-not-as-set`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median
from firstbreak.view import Points, RunView

TARGET = ("critic/target_mean", "return/mean")
VALUES = ("critic/value_mean", "critic/q_mean")
LENGTH = "episode/length_mean"
MEAN, STD = "reward/env_mean", "reward/env_std"
LEARNED = "reward/step_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `discount-not-as-set`. Engineering defaults."""

    share: float = 0.25
    """Share of the value that the discount and the reward of every step imply, below which targets are too small."""
    rows: int = 30
    """Rows of targets, the last half of which must have come to rest."""
    least_length: float = 10.0
    """Episodes that must be as long for the discount to show."""
    z: float = 3.0
    """Standard errors of a slope from which on targets still rise."""
    apart: float = 0.25
    """Distance of values from their targets, as a share of these, from which on the targets are not at rest: they are
    made of values that are still to follow."""


DQN = synth.like("DQN", config={"gamma": 0.99})
SAME = {MEAN: synth.constant(1.0), STD: synth.constant(0.0), LENGTH: synth.flat(45.0, 0.1)}
CASES = (
    fires(
        "targets of 1.4 where each step pays 1",
        lambda: DQN({**SAME, TARGET[0]: synth.flat(1.4, 0.02), VALUES[1]: synth.flat(1.4, 0.02)}),
    ),
    healthy("targets of 18", lambda: DQN({**SAME, TARGET[0]: synth.flat(18.0, 0.02)})),
    near_miss("a target network that lets them rise slowly", lambda: DQN({**SAME, TARGET[0]: synth.ramp(1.0, 4.0)})),
    near_miss(
        "a slow critic far behind its own targets",
        lambda: DQN({**SAME, TARGET[0]: synth.flat(4.0, 0.02), VALUES[1]: synth.flat(2.0, 0.02)}),
    ),
    near_miss(
        "a target network that has been copied twice so far: no target looks farther than three steps yet",
        lambda: synth.like("DQN", config={"gamma": 0.99, "tau": 1.0, "target_update_interval": 400})(
            {**SAME, TARGET[0]: synth.flat(2.6, 0.02), VALUES[1]: synth.flat(2.6, 0.02)}
            | {"optim/n_updates": synth.ramp(0, 1600, 0.0)}
        ),
    ),
    fires(
        "a target network that has been copied often",
        lambda: synth.like("DQN", config={"gamma": 0.99, "tau": 1.0, "target_update_interval": 10})(
            {**SAME, TARGET[0]: synth.flat(1.4, 0.02), VALUES[1]: synth.flat(1.4, 0.02)}
            | {"optim/n_updates": synth.ramp(0, 1600, 0.0)}
        ),
    ),
    near_miss(
        "0.3 is what was set",
        lambda: synth.like("DQN", config={"gamma": 0.3})(
            {**SAME, TARGET[0]: synth.flat(1.4, 0.02), VALUES[1]: synth.flat(1.4, 0.02)}
        ),
    ),
    near_miss(
        "rewards that are normalised before the learner sees them",
        lambda: synth.like("PPO", config={"gamma": 0.97, "normalize_reward": True})(
            {**SAME, TARGET[0]: synth.flat(3.2, 0.02), VALUES[0]: synth.flat(3.2, 0.02)}
        ),
    ),
    near_miss(
        "a tenth of each reward is what is learned from",
        lambda: DQN(
            {**SAME, LEARNED: synth.constant(0.1), TARGET[0]: synth.flat(1.8, 0.02), VALUES[1]: synth.flat(1.8, 0.02)}
        ),
    ),
    near_miss(
        "rewards differ from step to step",
        lambda: DQN(
            {**SAME, STD: synth.flat(0.5, 0.1), TARGET[0]: synth.flat(1.4, 0.02), VALUES[1]: synth.flat(1.4, 0.02)}
        ),
    ),
)


@rule(
    "CRT018",
    "discount-not-as-set",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(MEAN, STD, LENGTH),
    any_of=(TARGET,),
    needs_config=("gamma",),
    when=("control",),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("reward-flat",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Value targets are far smaller than the configured discount makes of the rewards.

    What it means:
        Every step pays the same, so that a state halfway through an episode of L steps is worth
        r (1 - gamma^(L/2)) / (1 - gamma). Targets have come to rest at a fraction of it, where values agree with them.
        A target network copied k times lets no target look farther than k + 1 steps; these stand where L/2 is more.

    Why it matters:
        The critic looks only a few steps ahead, whatever the configuration says.

    Usual causes:
        A discount that is applied twice or per repeated frame; another variable in its place; targets cut after each
        step as if every transition ended an episode; a reward that is scaled before it reaches the critic.

    What to try:
        Print reward, discount, done flag and next value of five transitions, and the target that is made of them.

    When it is harmless:
        Rewards that are normalised or scaled inside the trainer, where neither the configuration (`normalize_reward`)
        nor the rewards that are learned from (`reward/step_mean`) say so.

    References:
        Sutton and Barto 2018, "Reinforcement Learning", section 3.3 (returns and discounting).
    """
    gamma, length = view.number("gamma"), view.get(LENGTH)
    paid, spread, target = view.get(MEAN), view.get(STD), view.get(*TARGET)
    assert length is not None
    assert paid is not None
    assert spread is not None
    assert target is not None
    normalised = str(view.config("normalize_reward", "")).lower() in ("true", "1")
    if gamma is None or normalised or not 0 < gamma < 1 or spread.max > 0 or len(target) < params.rows:
        return None
    steps, reward, learned = median(length.value), median(paid.value), view.get(LEARNED)
    if learned is not None and len(learned):
        reward = min(reward, median(learned.value), key=abs)
    half = len(target) // 2
    if (
        steps < params.least_length
        or reward == 0
        or abs(linear_trend(target.step[half:], target.value[half:]).z) > params.z
    ):
        return None
    ahead = min(steps / 2, 1 + copies(view, target, half))
    implied = reward * (1 - gamma**ahead) / (1 - gamma)
    share = median(target.value[half:]) / implied
    if not 0 <= share < params.share:
        return None
    now = median(target.value[half:])
    value = view.get(*VALUES)
    if value is not None and len(value) and abs(median(value.value[len(value) // 2 :]) - now) > params.apart * abs(now):
        return None
    return Detection(
        message=f"value targets rest at {now:.3g}; gamma {gamma:g} and {reward:.3g} per step imply about {implied:.3g}",
        onset=view.onset(float(target.source.step[0])),
        metric=target.metric,
        evidence={"target": now, "implied": implied, "gamma": gamma, "implied_gamma": max(0.0, 1 - reward / now)},
    )


def copies(view: RunView, target: Points, place: int) -> float:
    """Return how often at least the target network had been copied by row `place` of the targets; without one, inf.

    Soft updates count by the share of the way they take. Frameworks count the interval in gradient steps or in
    environment steps: the fewer copies of the two stand.
    """
    every, share = view.get("critic/target_interval"), view.get("critic/target_tau")
    interval = every.last if every is not None else view.number("target_update_interval")
    tau = share.last if share is not None else view.number("tau")
    if interval is None and tau is None:
        return float("inf")
    here = float(target.step[place])
    passed = here - float(target.source.step[0])
    updates = view.get("optim/n_updates")
    if updates is not None and len(updates):
        passed = min(passed, float(np.interp(here, updates.step, updates.value)))
    return passed * (1.0 if tau is None else tau) / max(interval or 1.0, 1.0)
