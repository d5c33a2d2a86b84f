"""The rule `actor-descends`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, falls
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of

LOSS, VALUE = "policy/loss", "critic/q_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `actor-descends`. Engineering defaults."""

    rows: int = 12
    """Latest rows that must show it."""
    fall_z: float = 3.0
    """Standard errors by which the return has fallen: a loss may be logged with its sign turned in a run that is only
    slow."""
    near: float = 0.3
    """Distance of the actor's loss from the critic's value, over the value, within which the loss is the value: its
    batch or its critic is another one, and entropy counts in it."""


SAC = synth.like("SAC", drop=("critic/q2_mean",))
FALLS = {"reward/episode_return_mean": synth.ramp(-300, -1300, 0.04, until=0.5)}
DOWN = {**FALLS, LOSS: synth.ramp(-20.5, -71, 0.05)}
CASES = (
    fires("the loss is the value itself, and the return falls", lambda: SAC(DOWN)),
    healthy("the loss is the value with its sign turned", lambda: SAC({})),
    near_miss(
        "logged with its sign turned in a run that does not learn yet",
        lambda: SAC({**DOWN, "reward/episode_return_mean": synth.flat(-1300, 0.05)}),
    ),
    near_miss("logged with its sign turned: the return rises", lambda: SAC({LOSS: synth.ramp(-20.5, -71, 0.05)})),
    near_miss("the return falls for another reason", lambda: SAC(FALLS)),
    near_miss("entropy outweighs the value", lambda: SAC({**FALLS, LOSS: synth.flat(-300.0, 0.05)})),
)


@rule(
    "POL095",
    "actor-descends",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(LOSS, VALUE),
    any_of=(TRAIN,),
    when=("q_function", "policy_gradient"),
    min_points=12,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("return-below-start", "smooth-decline", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The actor's loss has the sign of the critic's value: minimising it looks for the worst action.

    What it means:
        The actor of TD3, DDPG or SAC is trained on the value of its own actions with the sign turned, so that its
        loss is near minus the logged value. Here it is near plus the value, and the return falls.

    Why it matters:
        The policy is driven to the actions that the critic likes least.

    Usual causes:
        The minus before the mean of the value was lost; a loss that an optimiser maximises; a critic of costs.

    What to try:
        Print loss and value of one batch: their sum should be next to nothing.

    When it is harmless:
        Where the loss is logged with its sign turned; then the return does not fall.

    References:
        Silver et al. 2014, "Deterministic policy gradient algorithms". Fujimoto et al. 2018, arXiv 1802.09477.
    """
    loss, value, reward = view.get(LOSS), view.get(VALUE), view.get(*TRAIN)
    assert loss is not None
    assert value is not None
    assert reward is not None
    if min(len(loss), len(value)) < params.rows or len(reward) < params.rows or not falls(reward, params.fall_z):
        return None
    if not {"q_function", "policy_gradient"} <= traits_of(view.algorithm):
        return None
    beside = np.interp(loss.step, value.step, value.value)
    same = (np.abs(loss.value - beside) <= params.near * np.abs(beside)) & (beside != 0)
    if not same[-params.rows :].all():
        return None
    start = int(np.flatnonzero(~same)[-1]) + 1 if not same.all() else 0
    return Detection(
        message=f"actor loss {loss.last:.4g} is the value {beside[-1]:.4g}, not minus it; the return falls",
        onset=view.onset(float(loss.step[max(start - 1, 0)]), float(loss.step[start])),
        metric=LOSS,
        evidence={"loss": loss.last, "value": float(beside[-1])},
    )
