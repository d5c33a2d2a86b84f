"""The rule `default-reward-stuck`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `default-reward-stuck`. Engineering defaults where no source is named."""

    run: int = 5
    """Consecutive rows with exactly the same mean reward, after it has varied."""
    latency_ratio: float = 2.0
    """Scoring time in the stretch over the time before it, that points to time-outs."""


GRPO = synth.like("GRPO")
STUCK = {"reward/train_mean": synth.after(0.6, synth.constant(0.25), synth.walk(0.5, 0.05))}
CASES = (
    fires(
        "scorer times out and a default is trained on",
        lambda: GRPO(STUCK | {"reward/latency_s": synth.jump(1.0, 30.0, at=0.6)}),
    ),
    fires("the same without latency: a hint", lambda: GRPO(STUCK)),
    healthy("reward varies", lambda: GRPO({"reward/latency_s": synth.flat(1.0, 0.1)})),
    near_miss(
        "solved: stays at its best value",
        lambda: GRPO({"reward/train_mean": synth.clipped(synth.ramp(0.1, 3.0, 0.02), 0, 1)}),
    ),
    near_miss("constant from the start", lambda: GRPO({"reward/train_mean": synth.constant(0.0)})),
    near_miss(
        "one answer whatever the prompt",
        lambda: GRPO(STUCK | {"seq/len_mean": synth.after(0.6, synth.constant(2.0), synth.flat(180))}),
    ),
)


@rule(
    "RWD017",
    "default-reward-stuck",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(("reward/train_mean", "reward/rollout_mean"),),
    when=("language",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("zero-std-groups", "grad-norm-zero", "return-collapse", "reward-latency-growth"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A mean reward that used to vary repeats one exact value, row after row.

    What it means:
        For at least five rows the batch mean is bit for bit the same and is neither the best nor the only value of the
        run, while response lengths still vary.

    Why it matters:
        A failing scorer often answers with a default. Trained on, it teaches that everything is equally good.

    Usual causes:
        Time-outs or errors of a reward service that are turned into a constant; a cache that always hits.

    What to try:
        Rescore a fixed golden set: its scores must be what they were. Mask failed scores instead of using a default.

    When it is harmless:
        A solved task repeats its ceiling, and a collapsed policy repeats one answer; both are told apart here.

    References:
        Engineering defaults; see the parameters.
    """
    reward = view.get("reward/train_mean", "reward/rollout_mean")
    assert reward is not None
    if len(reward) < 2 * LEAST or reward.max == reward.min:
        return None
    same = np.concatenate([[False], np.diff(reward.value) == 0])
    over = persistent_onset(reward.step, same, params.run - 1)
    if over is None or reward.last != reward.value[-params.run] or not same[-params.run + 1 :].all():
        return None
    spread = reward.max - reward.min
    if reward.last >= reward.max - 0.02 * spread or reward.last == reward.first:
        return None
    length = view.get("seq/len_mean")
    if length is None or len(length) < params.run or np.ptp(length.value[-params.run :]) == 0:
        return None
    latency = view.get("reward/latency_s", "time/reward")
    slow = (
        latency is not None
        and len(latency) > params.run
        and median(latency.value[-params.run :]) >= params.latency_ratio * median(latency.value[: -params.run])
    )
    return Detection(
        message=f"mean reward repeats exactly {reward.last:.6g} for the last {params.run} rows or more",
        onset=view.onset(*over),
        metric=reward.metric,
        evidence={"reward": reward.last, "rows": params.run, "latency_up": slow},
        severity=Severity.WARNING if slow else Severity.INFO,
    )
