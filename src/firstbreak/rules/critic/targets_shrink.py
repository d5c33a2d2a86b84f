"""The rule `targets-shrink`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView

TARGET, REWARD = "critic/target_mean", ("reward/step_mean", "reward/env_mean")


@dataclass(frozen=True)
class Params:
    """Thresholds of `targets-shrink`. Engineering defaults."""

    rows: int = 12
    """Earlier rows that say what is usual."""
    share: float = 0.5
    """Share of their earlier size that targets fall below within one row."""
    jumps: float = 10.0
    """Times the usual change from row to row."""
    lasts: int = 4
    """Rows in a row that stay as small."""
    paid: float = 0.7
    """Share of its earlier size that the reward of a step keeps: it is not what changed."""


SAC = synth.like("SAC", config={"gamma": 0.99})
GREW = synth.ramp(-20, -90, 0.03)
STEADY = {"reward/step_mean": synth.flat(-5.0, 0.1)}
CASES = (
    fires("to a fifth in one row", lambda: SAC(STEADY | {TARGET: synth.after(0.6, synth.ramp(-40, -8, 0.03), GREW)})),
    healthy("targets grow", lambda: SAC(STEADY | {TARGET: GREW})),
    near_miss(
        "rewards shrink as well",
        lambda: SAC(
            {"reward/step_mean": synth.jump(-5.0, -0.5, 0.6), TARGET: synth.after(0.6, synth.flat(-8.0), GREW)}
        ),
    ),
    near_miss("by degrees, as a task of costs is solved", lambda: SAC(STEADY | {TARGET: synth.ramp(-90, -8, 0.03)})),
    near_miss("one odd batch", lambda: SAC(STEADY | {TARGET: synth.spikes(-60.0, -8.0, at=(0.6,), noise=0.03)})),
)


@rule(
    "CRT020",
    "targets-shrink",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(TARGET,),
    any_of=(REWARD,),
    when=("control", "replay"),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "action-std-growth", "policy-loss-spike"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Value targets lose half of their size in one row, though steps pay what they paid.

    What it means:
        A target is a reward and a discounted value. The rewards are as they were and values move slowly, so it is the
        discount, or what is bootstrapped, that changed.

    Why it matters:
        What comes later in an episode stops to count, and the policy unlearns what it did for it.

    Usual causes:
        A discount that was set anew, or is multiplied in twice; done flags that are set at every step; a target
        network that was reset; a scale of rewards or values that was exchanged within the critic.

    What to try:
        Print reward, discount, done flag and next value of five transitions from before and after.

    When it is harmless:
        A change of the discount or of the number of steps of a return that you planned.

    References:
        Sutton and Barto 2018, "Reinforcement Learning", section 3.3 (returns and discounting).
    """
    target, reward = view.get(TARGET), view.get(*REWARD)
    assert target is not None
    assert reward is not None
    value, size = target.value, np.abs(target.value)
    change = np.abs(np.diff(value))
    # From above three quarters of the earlier size to below the share of it.
    fell = size[1:] * (1 + params.share) / 2 <= params.share * size[:-1]
    for place in np.flatnonzero(fell) + 1:
        if place < params.rows or place > value.size - params.lasts:
            continue
        before = median(size[place - params.rows // 2 : place])
        usual = median(change[place - params.rows : place - 1])
        if size[place : place + params.lasts].max() > params.share * before or usual <= 0:
            continue
        if size[place - 1] < before * (1 + params.share) / 2 or change[place - 1] < params.jumps * usual:
            continue
        step = target.step[place]
        was, now = reward.value[reward.step < step][-params.rows :], reward.value[reward.step >= step][: params.lasts]
        if not was.size or not now.size or not median(was) or abs(median(now)) < params.paid * abs(median(was)):
            continue
        return Detection(
            message=f"value targets went from {value[place - 1]:.3g} to {value[place]:.3g}; steps pay as before",
            onset=view.onset(float(target.step[place - 1]), float(step)),
            metric=TARGET,
            evidence={
                "before": float(value[place - 1]),
                "now": float(value[place]),
                "reward_before": median(was),
                "reward_now": median(now),
            },
        )
    return None
