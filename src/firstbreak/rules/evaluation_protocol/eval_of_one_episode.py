"""The rule `eval-of-one-episode`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

EVAL, TRAIN = "episode/eval_length_mean", "episode/length_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `eval-of-one-episode`."""

    chance: float = 0.01
    """Chance that means of two episodes are whole numbers so often: one half each time. Engineering default, the usual
    one in a hundred; means of more episodes do so more rarely still."""


PPO = synth.like("PPO", n=40)


def whole(shape: synth.Shape, parts: int = 1) -> synth.Shape:
    """`shape` in whole numbers, or in whole `parts` of one."""

    def rounded(t: Floats, rng: np.random.Generator) -> Floats:
        return np.round(parts * shape(t, rng)) / parts

    return rounded


GROWING = synth.ramp(30, 400, 0.1)
CASES = (
    fires("whole numbers each time", lambda: PPO({EVAL: whole(GROWING)})),
    healthy("means of five episodes", lambda: PPO({EVAL: whole(GROWING, 5)})),
    near_miss("solved: the time limit each time", lambda: PPO({EVAL: synth.constant(500.0)})),
    near_miss("a log that rounds all lengths", lambda: PPO({EVAL: whole(GROWING), TRAIN: whole(GROWING)})),
)


@rule(
    "EVA016",
    "eval-of-one-episode",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    severity=Severity.WARNING,
    needs=(EVAL,),
    when=("control",),
    min_points=8,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
    implies=("heldout-regression", "best-long-past", "eval-step-change", "train-eval-gap"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Each evaluation is a single episode, or episodes that are all alike: its mean length is always a whole number.

    What it means:
        Lengths of episodes are whole numbers, their means hardly ever. Evaluations that differ, and never by less than
        a whole step, average nothing: one episode each, or several that begin alike in a world without chance.

    Why it matters:
        One episode says next to nothing of a policy: the best of many evaluations is the luckiest, and a checkpoint
        that is kept for it is no better than its neighbours.

    Usual causes:
        An evaluation that stops at the first `done`; a number of episodes that is divided among copies of the
        environment; defaults of small examples; a reset to the same state, or with the same seed, each time.

    What to try:
        Print how many episodes each evaluation finished, and whether their returns differ; ask for 20 or more, each
        from another seed.

    When it is harmless:
        Tasks without chance that always begin alike, where one episode is all there is to see. Tasks whose episodes
        differ in length by multiples only (repeated actions that are counted as frames).

    References:
        Henderson et al. 2018, arXiv 1709.06560. Agarwal et al. 2021, arXiv 2108.13264.
    """
    length, train = view.get(EVAL), view.get(TRAIN)
    assert length is not None
    if train is not None and len(train) and not np.any(odd(train.value)):
        return None  # the log knows whole numbers only
    telling = length.value[length.value < length.max]  # the longest may be the time limit, which means are, too
    if np.any(odd(length.value)) or 0.5**telling.size > params.chance:
        return None
    return Detection(
        message=f"mean length a whole number in all {len(length)} evaluations: one episode each, or all alike",
        onset=view.onset(float(length.source.step[0])),
        metric=EVAL,
        evidence={"evaluations": len(length), "below_the_longest": int(telling.size)},
    )


def odd(value: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which of `value` [n] are no whole numbers, beyond what single precision leaves of one."""
    return np.abs(value - np.round(value)) > 1e-6 * np.maximum(np.abs(value), 1.0)
