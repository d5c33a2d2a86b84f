"""The rule `reward-nonfinite`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-nonfinite`. Engineering defaults where no source is named."""

    trailing: int = 3
    """Rows of NaN up to now, without a finite one after them, that are no gap in the log."""


EPISODES = (
    ("reward/raw_episode_return", "episode/length"),
    ("reward/episode_return", "episode/length"),
    ("reward/episode_return_mean", "episode/length_mean"),
)
"""Returns, and the lengths of the same episodes."""
PPO = synth.like("PPO")
GRPO = synth.like("GRPO")
CASES = (
    fires(
        "a reward is infinite",
        lambda: PPO({"reward/episode_return_mean": synth.spikes(100.0, float("-inf"), at=(0.5,))}),
    ),
    fires(
        "reward turns NaN and stays",
        lambda: GRPO({"reward/train_mean": synth.after(0.6, synth.constant(float("nan")), synth.flat(0.3))}),
    ),
    fires(
        "the newest episodes have a length and no return",
        lambda: PPO({"reward/episode_return_mean": synth.after(0.97, synth.constant(float("nan")), synth.flat(100.0))}),
    ),
    fires(
        "the environment pays NaN at times",
        lambda: PPO({"reward/env_nonfinite_frac": synth.spikes(0.0, 0.01, at=(0.5, 0.7), noise=0)}),
    ),
    healthy("the environment pays numbers", lambda: PPO({"reward/env_nonfinite_frac": synth.constant(0.0)})),
    healthy("finite", lambda: GRPO({})),
    near_miss(
        "no episode has ended yet",
        lambda: PPO(
            {"reward/episode_return_mean": synth.after(0.1, synth.ramp(20, 300), synth.constant(float("nan")))}
        ),
    ),
    near_miss(
        "no monitor: episode statistics are all NaN",
        lambda: PPO({"reward/episode_return_mean": synth.constant(float("nan"))}),
    ),
    near_miss(
        "gaps are padded with NaN",
        lambda: GRPO({"reward/train_mean": synth.spikes(0.3, float("nan"), at=(0.2, 0.5, 0.8))}),
    ),
)


@rule(
    "RWD019",
    "reward-nonfinite",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    min_points=0,
    any_of=(
        (
            *TRAIN,
            "reward/final_mean",
            "reward/step_max",
            "reward/train_max",
            "reward/train_min",
            "reward/shaped_return_mean",
            "reward/env_nonfinite_frac",
        ),
    ),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "nonfinite-metric",
        "value-loss-explosion",
        "loss-explosion",
        "grad-norm-explosion",
        "critic-gradient-explosion",
        "steps-skipped",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward is infinite, or became NaN and stayed so.

    What it means:
        A reward metric holds an infinity, or nothing but NaN from some row on after finite values.

    Why it matters:
        One non-finite reward makes returns, advantages, losses and weights non-finite within an update.

    Usual causes:
        Division by zero or logarithm of zero in a reward term; an observation that is infinite; a scorer that returns
        NaN on failure.

    What to try:
        Check each reward term with isfinite before they are summed, and stop at the first that fails.

    When it is harmless:
        NaN before the first finished episode, without a monitor, or as padding between logged rows is not reported;
        nor are episode returns that are NaN together with the lengths of the episodes.

    References:
        IEEE 754 arithmetic: infinities and NaN spread through sums and products.
    """
    paid = _paid(view)
    if paid is not None:
        return paid
    names = (
        *TRAIN,
        "reward/final_mean",
        "reward/step_max",
        "reward/train_max",
        "reward/train_min",
        "reward/shaped_return_mean",
    )
    for name in names:
        points = view.logged(name)
        if points is None or points.nonfinite == 0:
            continue
        if np.isfinite(points.first_inf):
            return Detection(
                message=f"{name} is infinite at step {points.first_inf:.6g} ({points.nonfinite} rows)",
                onset=view.onset(points.first_inf),
                metric=name,
                evidence={"at": points.first_inf, "nonfinite_rows": points.nonfinite},
            )
        step, value = points.source.step, points.source.value
        inside = (step >= view.lo) & (step <= view.hi)
        tail = value[inside][-params.trailing :]
        if (
            not len(points)
            or name.startswith("reward/episode")
            or tail.size < params.trailing
            or not np.isnan(tail).all()
        ):
            continue
        return Detection(
            message=f"{name} is NaN since step {points.step[-1]:.6g} ({points.nonfinite} of {points.total} rows)",
            onset=view.onset(points.step[-1], points.step[-1] + points.cadence),
            metric=name,
            evidence={"last_finite_at": float(points.step[-1]), "nonfinite_rows": points.nonfinite},
        )
    return _without_return(view)


def _paid(view: RunView) -> Answer:
    """Judge the rewards that the environment itself paid: one that is not finite is enough."""
    paid = view.get("reward/env_nonfinite_frac")
    if paid is None or not len(paid) or paid.max <= 0:
        return None
    place = int(np.flatnonzero(paid.value > 0)[0])
    return Detection(
        message=f"{paid.value[place]:.1%} of the rewards that the environment paid are not finite",
        onset=view.onset(paid.step[max(0, place - 1)], paid.step[place]),
        metric=paid.metric,
        evidence={"nonfinite_frac": float(paid.value[place]), "at": float(paid.step[place])},
    )


def _without_return(view: RunView) -> Answer:
    """Judge episodes whose length is known and whose return is NaN: the newest ones, after finite returns."""
    for name, length_name in EPISODES:
        points, length = view.get(name), view.get(length_name)
        if points is None or length is None or not len(points) or not len(length) or not points.nonfinite:
            continue
        ended = view.hi >= view.log.last_step and view.log.state != "running"
        lasting = points.step[-1] < points.first_nonfinite and (ended or points.nonfinite >= Params.trailing)
        if lasting and bool(np.isin(points.first_nonfinite, length.step)):
            return Detection(
                message=f"{name} is NaN since step {points.first_nonfinite:.6g}, episode lengths are not",
                onset=view.onset(points.step[-1], points.first_nonfinite),
                metric=name,
                evidence={"last_finite_at": float(points.step[-1]), "nonfinite_rows": points.nonfinite},
            )
    return None
