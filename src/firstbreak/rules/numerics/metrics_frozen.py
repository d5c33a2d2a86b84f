"""The rule `metrics-frozen`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `metrics-frozen`: engineering defaults, except where a source is named."""

    points: int = 8
    """Consecutive newest points that repeat exactly."""
    metrics: int = 3
    """Metrics of the update that must be logged, all frozen."""


PPO = synth.like("PPO")
GRPO = synth.like("GRPO")
ZEROS = {
    name: synth.after(0.6, synth.constant(0.0), synth.HEALTHY["PPO"][name])
    for name in ("policy/loss", "critic/loss", "policy/kl_old", "policy/entropy", "optim/grad_norm")
}

UPDATE = (
    "policy/loss",
    "critic/loss",
    "policy/kl_old",
    "policy/entropy",
    "policy/kl_ref",
    "optim/loss_total",
    "optim/grad_norm",
    "optim/actor_grad_norm",
)
REWARDS = ("reward/episode_return_mean", "reward/episode_return", "reward/step_mean", "reward/train_mean")

CASES = (
    fires("all zero from mid-run", lambda: PPO(ZEROS)),
    healthy("all moving", lambda: PPO({})),
    near_miss(
        "loss and gradient zero, entropy moving",
        lambda: GRPO({"optim/loss_total": synth.constant(0.0), "optim/grad_norm": synth.constant(0.0)}),
    ),
    near_miss(
        "nothing moves, the reward neither", lambda: PPO(ZEROS | {"reward/episode_return_mean": synth.constant(20.0)})
    ),
)


@rule(
    "NUM012",
    "metrics-frozen",
    link=Link.NUMERICS,
    component=Component.LOGGING,
    severity=Severity.WARNING,
    any_of=(
        ("policy/loss", "critic/loss", "optim/loss_total"),
        ("reward/episode_return_mean", "reward/episode_return", "reward/step_mean", "reward/train_mean"),
    ),
    min_points=8,
    params=Params(),
    cases=CASES,
    implies=("policy-frozen",),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every metric of the update repeats exactly, while the reward still varies.

    What it means:
        Losses, KL, entropy and gradient norms print one and the same number each, so no update is being made or
        averaged.

    Why it matters:
        A guard may skip every step in silence: averages over nothing then print as 0 or as the last value.

    Usual causes:
        All steps skipped as not finite; metrics averaged over no update; carried-forward values; a learner that died.

    What to try:
        Log the number of optimiser steps and of skipped steps per update.

    When it is harmless:
        Logs that repeat the last value between updates: log less often.

    References:
        Micikevicius et al. 2018, arXiv 1710.03740 (skipped steps).
    """
    reward = view.get(*REWARDS)
    moving = reward is not None and len(reward) >= params.points and np.ptp(reward.value[-params.points :]) > 0
    logged = [p for p in (view.get(m) for m in UPDATE) if p is not None and len(p) >= params.points]
    if not moving or len(logged) < params.metrics:
        return None
    if any(float(np.ptp(p.value[-params.points :])) > 0 for p in logged):
        return None
    zero = all(p.last == 0 for p in logged)
    last = max(float(p.step[-params.points]) for p in logged)
    alive = [p for p in logged if p.max > p.min]
    starts = [float(p.step[np.flatnonzero(p.value != p.last)[-1]]) for p in alive]
    onset = max(starts) if starts else min(float(p.step[0]) for p in logged)
    return Detection(
        message=(
            f"{len(logged)} metrics of the update"
            f" repeat {'0' if zero else 'their value'} for {params.points} points or more"
        ),
        onset=view.onset(onset, max(last, onset)),
        metric=logged[0].metric,
        evidence={"metrics": len(logged), "zero": zero},
        severity=Severity.ERROR if zero and alive else None,
    )
