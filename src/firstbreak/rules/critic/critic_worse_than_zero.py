"""The rule `critic-worse-than-zero`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, Status, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, progress
from firstbreak.stats import median, persistent_onset, quantile
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of

LOSS = "critic/loss"
RETURNS = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-worse-than-zero`. In 408 healthy recorded runs (ordinary logs and the development half of
    the fault benchmark, 2026-11-26) no root that has grown exceeds 0.26 of the returns; where the critic is broken it
    is 0.8 and more."""

    share: float = 0.75
    """Root of the critic's loss over the size of the returns. An estimate of 0 errs by no more than the returns; half a
    squared error makes that 0.7."""
    grown: float = 2.0
    """Growth of the loss over its opening."""
    rows: int = 24
    """Rows of loss and return that are needed."""
    passed: float = 0.5
    """Share of the planned steps from which on it is said of a run that goes on."""


PPO = synth.like("PPO")
RETURN = RETURNS[0]
COSTS = synth.ramp(-60, -10, 0.05, until=0.6)
CASES = (
    fires("the loss grows as costs shrink", lambda: PPO({RETURN: COSTS, LOSS: synth.ramp(60, 180, 0.05)})),
    healthy("errors shrink with the costs", lambda: PPO({RETURN: COSTS, LOSS: synth.ramp(60, 2, 0.05)})),
    near_miss("errors grow with the returns", lambda: PPO({RETURN: synth.ramp(20, 400), LOSS: synth.ramp(60, 900)})),
    near_miss("returns of both signs say nothing of what lies ahead", lambda: PPO(
        {RETURN: synth.ramp(-60, 10, 5.0), LOSS: synth.ramp(60, 180, 0.05)})),
)  # fmt: skip


@rule(
    "CRT046",
    "critic-worse-than-zero",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(LOSS,),
    any_of=(RETURNS,),
    when=("control", "on_policy", "value_function"),
    min_points=24,
    params=Params(),
    cases=CASES,
    # Where returns scatter by more than their mean, an error above it is what the best critic has: it warned on a
    # public run that learned (2026-11-26), and the scatter of returns is in few logs.
    status=Status.PREVIEW,
    implies=("value-loss-explosion", "explained-variance-negative", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic errs by more than the whole return, and ever more: an estimate of 0 would be better.

    What it means:
        Where all returns have one sign, what lies ahead of any state is no larger than the return of an episode. The
        root of the critic's loss is as large, and has grown since the start.

    Why it matters:
        Advantages carry the critic's error. Normalising them hides a constant one, so the run may learn all the same,
        and slower than it could. Explained variance hides it too.

    Usual causes:
        A value loss that is clipped around 0 instead of around the old value; targets with the wrong sign or of another
        scale; a loss that is not minimised; advantages summed the wrong way.

    What to try:
        Print values, targets and returns of ten states of one rollout.

    When it is harmless:
        When the loss holds a large factor, or the logged return is scaled down.

    References:
        None; the bound follows from the definition of the value.
    """
    loss, returns, share = view.get(LOSS), view.get(*RETURNS), progress(view)
    assert loss is not None
    assert returns is not None
    if min(len(loss), len(returns)) < params.rows or not traits_of(view.algorithm) >= {"control", "on_policy"}:
        return None
    if not (ended(view) or (share is not None and share >= params.passed)):
        return None
    late, earned = loss.value[-len(loss) // 3 :], returns.value[-len(returns) // 3 :]
    if earned.min() <= 0 <= earned.max():
        return None
    size, opening = quantile(np.abs(earned), 0.9), median(np.abs(loss.value[:8]))
    now = median(np.abs(late))
    if now < params.grown * opening or np.sqrt(now) < params.share * size:
        return None
    over = persistent_onset(loss.step, np.abs(loss.value) >= params.grown * opening, 3)
    at = over if over is not None else (float(loss.step[0]), float(loss.step[-len(loss) // 3]))
    return Detection(
        message=f"the critic errs by {np.sqrt(now):.3g}, returns are {median(earned):.4g}; loss began at {opening:.3g}",
        onset=view.onset(*at),
        metric=LOSS,
        evidence={"root_of_loss": float(np.sqrt(now)), "return": median(earned), "opening_loss": opening},
    )
