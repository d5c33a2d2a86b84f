"""The rule `limit-not-bootstrapped`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

LENGTH, CUT, ERROR = "episode/length_mean", "episode/truncated_frac", "critic/td_error_mean"
TARGETS, VALUES = ("critic/target_max", "critic/target_min"), ("critic/q_max", "critic/q_min")
PAID = ("reward/env_max", "reward/env_min")


@dataclass(frozen=True)
class Params:
    """Thresholds of `limit-not-bootstrapped`. Engineering defaults."""

    share: float = 0.6
    """Share of the recent rows that show a target which only a reward alone can be. Of healthy rows 0.1 do, and half of
    those of a TD3 that had come near 0, the best there is (tenth draw); of broken ones nearly all, where a batch holds
    more steps than an episode."""
    rows: int = 30
    """Recent rows that are looked at."""
    errors: float = 1.0
    """Mean TD errors by which that target lies beyond all values of its batch."""
    flags: int = 5
    """Rows on end whose episodes reach the limit and are not reported as truncated, though earlier ones were."""


SAC = synth.like("SAC", config={"gamma": 0.95})
COSTS = {PAID[0]: synth.flat(-0.05, 0.1), PAID[1]: synth.flat(-1.5, 0.1), LENGTH: synth.constant(50.0)}
BATCH = {ERROR: synth.flat(0.2, 0.1), TARGETS[0]: synth.flat(-0.7, 0.1), VALUES[0]: synth.flat(-0.7, 0.1)}
ALONE = synth.flat(-0.1, 0.1)
FLAG = {LENGTH: synth.constant(200.0), CUT: synth.jump(1.0, 0.0, 0.6, 0.0)}
CASES = (
    fires("targets of a reward alone, batch after batch", lambda: SAC(COSTS | BATCH | {TARGETS[0]: ALONE})),
    fires("the flag is lost on the way", lambda: SAC(FLAG)),
    healthy("the largest target is as the largest value", lambda: SAC(COSTS | BATCH)),
    near_miss(
        "episodes end early: the last steps are such targets",
        lambda: SAC(COSTS | BATCH | {TARGETS[0]: ALONE, LENGTH: synth.flat(30.0, 0.2)}),
    ),
    near_miss(
        "a bonus for entropy lifts targets above all rewards",
        lambda: SAC(COSTS | BATCH | {TARGETS[0]: synth.flat(2.0, 0.1)}),
    ),
    near_miss(
        "all targets are those of one reward: values have not come into any yet",
        lambda: SAC(COSTS | BATCH | {TARGETS[0]: ALONE, TARGETS[1]: synth.flat(-1.3, 0.05)}),
    ),
    fires(
        "others hold what follows", lambda: SAC(COSTS | BATCH | {TARGETS[0]: ALONE, TARGETS[1]: synth.flat(-13.0, 0.1)})
    ),
    near_miss("episodes end before the limit now", lambda: SAC(FLAG | {LENGTH: synth.jump(200.0, 120.0, 0.6, 0.0)})),
)


@rule(
    "ENV028",
    "limit-not-bootstrapped",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    needs=(LENGTH,),
    any_of=((CUT, *TARGETS),),
    when=("control", "replay"),
    min_points=8,
    params=Params(),
    cases=CASES,
    implies=("critic-not-learning", "value-scale-mismatch"),
)
def detect(view: RunView, params: Params) -> Answer:
    """All episodes end at the time limit, and their last steps are taken for real ends.

    What it means:
        All episodes have the same length. Either they were reported as truncated and no longer are; or batch after
        batch holds a target that is a reward alone, far beyond what the critic predicts anywhere, beside others that
        hold more than any one reward.

    Why it matters:
        The same state is worth nothing at the limit and all that follows elsewhere. A critic that does not see the
        time cannot fit both, and values come out biased towards one reward.

    Usual causes:
        `terminated or truncated` stored as done; a wrapper of the old API with one flag; a vectorised environment whose
        `TimeLimit.truncated` is not read.

    What to try:
        Print the flags and the target of the last transition of one episode.

    When it is harmless:
        Where the task does end at that step, and the observation shows how much time is left.

    References:
        Pardo et al. 2018, "Time limits in reinforcement learning", arXiv 1712.00378, section 3.
    """
    length = view.get(LENGTH)
    assert length is not None
    if length.max > length.min or length.max <= 1:
        return None
    return unreported(view, length.last, params) or alone(view, params)


def unreported(view: RunView, steps: float, params: Params) -> Detection | None:
    """Say so where episodes of the same length were reported as truncated and no longer are."""
    cut = view.get(CUT)
    if cut is None or len(cut) < params.flags + 1 or cut.value[0] < 1 or cut.value[-params.flags :].max() > 0:
        return None
    last = int(np.flatnonzero(cut.value > 0)[-1])
    return Detection(
        message=f"episodes end after {steps:.4g} steps as before, and are no longer reported as truncated",
        onset=view.onset(float(cut.step[last]), float(cut.step[last + 1])),
        metric=CUT,
        evidence={"length_steps": steps, "rows": len(cut) - last - 1},
    )


def alone(view: RunView, params: Params) -> Detection | None:
    """Say so where, with costs only (or gains only), targets near 0 lie beyond all values of their batch."""
    error, high, low = view.get(ERROR), view.get(PAID[0]), view.get(PAID[1])
    if error is None or high is None or low is None or not len(high) or not len(low):
        return None
    for sign, end in ((1.0, 0), (-1.0, 1)):
        target, value, best, worst = view.get(TARGETS[end]), view.get(VALUES[end]), (high, low)[end], (low, high)[end]
        if target is None or value is None or (sign * best.value).max() > 0:
            continue
        step, here, there = np.intersect1d(target.step, value.step, return_indices=True)
        beyond = sign * (target.value[here] - value.value[there])
        within = np.interp(step, worst.step, worst.value)
        shown = of_reward(sign * target.value[here], sign * within)
        shown &= beyond > params.errors * np.interp(step, error.step, error.value)
        others = view.get(TARGETS[1 - end])
        if others is not None and len(others):  # until a target network was copied, none holds more than a reward
            shown &= np.interp(step, others.step, sign * others.value) < (sign * worst.value).min()
        recent = shown[-params.rows :]
        if recent.size < params.rows or recent.mean() < params.share:
            continue
        first = int(np.argmax(shown))
        return Detection(
            message=f"{recent.mean():.0%} of recent batches hold a target of one reward alone: {target.last:.3g}",
            onset=view.onset(float(step[first]), float(step[-params.rows])),
            metric=target.metric,
            evidence={"rows_frac": float(recent.mean()), "target": target.last, "value": value.last},
        )
    return None


def of_reward(target: Floats, worst: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which targets [n] lie in the range of single rewards, which are none above 0 and none below `worst` [n]."""
    return (target <= 0) & (target >= worst)
