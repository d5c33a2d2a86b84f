"""The rule `training-pays-otherwise`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, from_start, rises
from firstbreak.stats import median, rank_correlation
from firstbreak.view import Points, RunView

EVALUATED = "reward/eval_return_mean"
TRAINED = ("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `training-pays-otherwise`. Engineering defaults."""

    factor: float = 2.0
    """Times the largest training return of the opening that the first evaluation is away from 0, and the latest
    evaluations from what training then shows."""
    early: float = 0.25
    """Share of the evaluations that are of the beginning; the first of them is of a policy that learned little."""
    risen: float = 0.25
    """Share of its first cost that evaluation has lost by then: it learns, too."""
    latest: int = 3
    """Latest evaluations that must all show it."""
    gains: float = 10.0
    """The same factor where both returns are gains: training pays that much more from the first evaluation on, though
    evaluation rises with it. Evaluations without a normaliser fall short by a factor of three to five."""
    alike: float = 0.7
    """Rank correlation of evaluation and training from which on the one rises with the other."""


PPO = synth.like("PPO")
TRAIN = TRAINED[1]
CASES = (
    fires(
        "training is paid the change of the reward",
        lambda: PPO({TRAIN: synth.ramp(-1.0, -0.1, 0.1), EVALUATED: synth.ramp(-11, -5, 0.05)}),
    ),
    fires(
        "training is paid a hundred times the reward",
        lambda: PPO({TRAIN: synth.ramp(17, 280, 0.02), EVALUATED: synth.ramp(-0.1, 2.2, 0.02)}),
    ),
    near_miss(
        "the evaluation does not rise, whatever is paid",
        lambda: PPO({TRAIN: synth.ramp(17, 280, 0.02), EVALUATED: synth.flat(2.0, 0.1)}),
    ),
    healthy("evaluation follows", lambda: PPO({EVALUATED: synth.ramp(25, 420, 0.05)})),
    near_miss(
        "the evaluation is of a policy without its normaliser, and does not rise",
        lambda: PPO({TRAIN: synth.ramp(-50, -2, 0.05), EVALUATED: synth.flat(-60, 0.05)}),
    ),
    near_miss(
        "an evaluation that began lower, and both are paid something in the end",
        lambda: PPO({TRAIN: synth.ramp(-0.5, 0.8, 0.05), EVALUATED: synth.ramp(-1.2, 0.9, 0.02, until=0.2)}),
    ),
    near_miss(
        "agreed at first",
        lambda: PPO({TRAIN: synth.ramp(-50, -2, 0.05), EVALUATED: synth.ramp(-60, -20, 0.05)}),
    ),
)


@rule(
    "RWD104",
    "training-pays-otherwise",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(EVALUATED,),
    any_of=(TRAINED,),
    when=("control",),
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("train-eval-gap", "heldout-regression", "best-long-past"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Training and evaluation return are numbers of another size from the first evaluation on, though both rise.

    What it means:
        A policy that has learned nothing earns about the same in training and in evaluation, whichever way it acts.
        Here it does not, and later both rise, each on its own scale: training is paid by another reward.

    Why it matters:
        What is learned is what training pays. Where that is not meant, the evaluation shows what it is worth.

    Usual causes:
        A wrapper that pays the change of the reward, its sign or a share of it, in training alone; a normaliser of
        rewards inside the monitor; an evaluation with another reward.

    What to try:
        Print the reward of ten equal steps of both environments.

    When it is harmless:
        Where rewards are normalised on purpose before they are logged: log the raw return beside them.

    References:
        None; the rule compares two logs of one untrained policy.
    """
    score, train = view.get(EVALUATED), view.get(*TRAINED)
    assert score is not None
    assert train is not None
    if len(score) < 2 * params.latest or len(train) < 2 * LEAST or not rises(train):
        return None
    if not in_other_units(score, train, params):
        return None
    return Detection(
        message=f"evaluation {score.first:.4g} to {score.last:.4g}; training {train.first:.4g} to {train.last:.4g}",
        onset=from_start(view, score),
        metric=score.metric,
        evidence={
            "eval_first": score.first,
            "eval_last": score.last,
            "train_first": train.first,
            "train_last": train.last,
        },
    )


def in_other_units(score: Points, train: Points, params: Params) -> bool:
    """Whether evaluations and training are of another size from the first one to the latest, as costs or as gains."""
    return other_costs(score, train, params) or other_gains(score, train, params)


def other_gains(score: Points, train: Points, params: Params) -> bool:
    """Whether both rise together, and training pays many times what any evaluation so far has shown."""
    if len(score) < 2 * params.latest:
        return False
    bounds = np.searchsorted(train.step, score.step, "right")
    between = np.split(train.value, bounds)[: len(score)]  # what training showed since the evaluation before
    near = np.array([median(part) if part.size else 0.0 for part in between])
    largest = np.maximum.accumulate(np.abs(score.value))
    if not bool((near >= params.gains * largest).all()) or near.min() <= 0:
        return False
    return rises(score) and rank_correlation(near, score.value) >= params.alike


def other_costs(score: Points, train: Points, params: Params) -> bool:
    """Whether the first and the latest evaluations are costs much larger than any that training shows at the time."""
    until = float(score.step[max(0, int(params.early * len(score)) - 1)])
    opening = train.value[: max(LEAST, int(np.searchsorted(train.step, until, "right")))]
    late = train.value[train.step >= score.step[-params.latest]]
    if not late.size:
        late = train.value[-LEAST:]
    latest = score.value[-params.latest :]
    return bool(
        score.first < 0
        and opening.max() < 0
        and score.first <= params.factor * opening.min()
        and latest.max() <= params.factor * median(late) < 0
        and latest.min() >= (1 - params.risen) * score.first
    )
