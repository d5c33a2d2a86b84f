"""The rule `evaluation-cut-short`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

LENGTH, TRAIN_LENGTH = "episode/eval_length_mean", ("episode/length_mean", "episode/length")
SCORE, TRAIN = "reward/eval_return_mean", ("reward/episode_return_mean", "reward/episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `evaluation-cut-short`. Engineering defaults."""

    evals: int = 4
    """Latest evaluations whose mean lengths are one number: every episode of each was cut there."""
    longer: float = 1.5
    """How many times as long training's episodes are meanwhile. Their mean lags behind the policy, so it is more."""
    gap: float = 0.3
    """How much less evaluation earns, over the larger of the two returns: where short is good it earns more."""


PPO = synth.like("PPO", n=60)
CUT = {
    "episode/length_mean": synth.ramp(20, 400, 0.03),
    LENGTH: synth.clipped(synth.ramp(20, 400, 0.03), 0, 60),
    SCORE: synth.clipped(synth.ramp(20, 400, 0.03), 0, 60),
}
CASES = (
    fires("all evaluation episodes have 60 steps", lambda: PPO(CUT)),
    healthy(
        "evaluation is as long as training",
        lambda: PPO({**CUT, LENGTH: synth.ramp(20, 400, 0.03), SCORE: synth.ramp(20, 420, 0.03)}),
    ),
    near_miss("evaluation is short and good", lambda: PPO({**CUT, SCORE: synth.ramp(20, 500, 0.03)})),
    near_miss("evaluation is short, and no two are alike", lambda: PPO({**CUT, LENGTH: synth.flat(60, 0.02)})),
    near_miss(
        "both end at the task's own limit",
        lambda: PPO({**CUT, "episode/length_mean": synth.clipped(synth.ramp(20, 400, 0.03), 0, 60)}),
    ),
)


@rule(
    "EVA021",
    "evaluation-cut-short",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.WARNING,
    needs=(LENGTH, SCORE),
    any_of=(TRAIN_LENGTH, TRAIN),
    when=("control",),
    min_points=4,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("train-eval-gap", "eval-step-change"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every evaluation episode ends at one and the same step, long before training's do, and earns less.

    What it means:
        The latest evaluations have one mean length to the last digit, as a limit makes it. Training's episodes are by
        half longer, and earn more.

    Why it matters:
        The score says how the policy does until the limit; what it learns beyond is never seen. Checkpoints are chosen
        by it.

    Usual causes:
        A time limit that only the evaluation's environment has; a loop over a fixed number of steps; the limit of
        another version of the task.

    What to try:
        Print how evaluation episodes end, and compare the limits of the two environments.

    When it is harmless:
        A short evaluation on purpose, read as such.

    References:
        Pardo et al. 2018, arXiv 1712.00378 (time limits).
    """
    length, score = view.get(LENGTH), view.get(SCORE)
    train_length, train = view.get(*TRAIN_LENGTH), view.get(*TRAIN)
    assert length is not None
    assert score is not None
    assert train_length is not None
    assert train is not None
    if min(len(length), len(score)) < params.evals or not len(train) or not len(train_length):
        return None
    at, cut = length.step[-params.evals :], float(length.last)
    longer = np.interp(at, train_length.step, train_length.value)
    earned, scored = np.interp(at, train.step, train.value), np.interp(at, score.step, score.value)
    apart = (earned - scored) >= params.gap * np.maximum(np.abs(earned), np.abs(scored))
    same = bool((length.value[-params.evals :] == cut).all()) and cut > 1
    if not same or not bool((longer >= params.longer * cut).all()) or not bool(apart.all()):
        return None
    start = int(np.flatnonzero(length.value != cut)[-1]) + 1 if (length.value != cut).any() else 0
    return Detection(
        message=f"evaluation episodes all end at step {cut:g}, training's at {longer[-1]:.4g}, and earn less",
        onset=view.onset(float(length.step[start])),
        metric=LENGTH,
        evidence={"length_steps": cut, "train_length_steps": float(longer[-1]), "gap": float((earned - scored)[-1])},
    )
