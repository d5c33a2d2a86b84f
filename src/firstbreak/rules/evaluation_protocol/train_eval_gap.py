"""The rule `train-eval-gap`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Onset, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, ended, from_start, moved, progress, rises, stretches
from firstbreak.rules.reward_signal.training_pays_otherwise import Params as Other
from firstbreak.rules.reward_signal.training_pays_otherwise import in_other_units
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `train-eval-gap`. Engineering defaults where no source is named."""

    gap: float = 0.5
    """Difference over the larger of the two returns. Published healthy runs agree within a few tenths once learning
    has begun. Engineering default."""
    evals: int = 3
    """Latest evaluations that must all show it in a run that goes on."""
    sure: int = 8
    """Evaluations after which it is a warning in a run that goes on, and an error past half of its steps."""
    agreed: int = 3
    """Evaluations of what was learned that must have agreed, to half of the gap, for it to have opened."""
    opened: int = 5
    """Latest evaluations that must all show a gap that opened, for a warning: greedy play may fail for a while."""
    flat_gap: float = 0.3
    """Such a difference where training learned and evaluation did not rise. Engineering default."""
    single: float = 0.65
    """Gap that a log of one or two rows must show."""


PPO = synth.like("PPO")
DETERMINISTIC = synth.like("PPO", config={"eval_deterministic": True})
ONE = synth.like("PPO", n=1, config={"eval_deterministic": True})
CASES = (
    fires(
        "evaluation stays low while training learns",
        lambda: DETERMINISTIC({"reward/eval_return_mean": synth.flat(30, 0.1)}),
    ),
    fires(
        "one row, deterministic evaluation",
        lambda: ONE(
            {"reward/episode_return_mean": synth.constant(1200.0), "reward/eval_return_mean": synth.constant(300.0)}
        ),
    ),
    fires(
        "evaluation agreed, and falls to another level",
        lambda: PPO({"reward/eval_return_mean": synth.after(0.75, synth.flat(40, 0.1), synth.ramp(25, 420, 0.02))}),
    ),
    healthy("evaluation follows", lambda: PPO({"reward/eval_return_mean": synth.ramp(25, 420, 0.05)})),
    fires(
        "evaluations of a few episodes stay low, one in three of them less so",
        lambda: PPO({"reward/eval_return_mean": synth.spikes(110, 230.0, at=tuple(i / 60 for i in range(0, 60, 3)))}),
    ),
    near_miss(
        "evaluation is better than exploring",
        lambda: PPO({"reward/eval_return_mean": synth.ramp(40, 500, 0.05, until=0.3)}),
    ),
    near_miss(
        "greedy policy is worse early on only",
        lambda: PPO({"reward/eval_return_mean": synth.ramp(9, 400, 0.05, begin=0.05)}),
    ),
    near_miss(
        "nothing is learned yet",
        lambda: PPO(
            {"reward/episode_return_mean": synth.walk(22, 2), "reward/eval_return_mean": synth.flat(9.3, 0.05)}
        ),
    ),
)


@rule(
    "EVA001",
    "train-eval-gap",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    needs=("reward/eval_return_mean",),
    any_of=(("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return"),),
    when=("control",),
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("heldout-regression", "best-long-past"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Evaluation returns stay far below training returns of the same policy.

    What it means:
        Training has clearly learned, yet the latest evaluations all lie below half of it; or the latest eight lie below
        it, by half at their median, or by a third where evaluation has not risen at all.

    Why it matters:
        Either the evaluation runs another policy or world than training, or the training return is not what it seems.
        Checkpoints are chosen by a number that measures something else.

    Usual causes:
        Deterministic actions of a policy that needs its noise; observation normaliser not loaded or not frozen; other
        limits, wrappers or versions; fixed start states in training.

    What to try:
        Evaluate one checkpoint with sampled and with deterministic actions, with the normaliser loaded and frozen.

    When it is harmless:
        Early in training the greedy policy is often worse; that is not reported. Evaluation on harder, unseen levels
        shows overfitting rather than a fault.

    References:
        Cobbe et al. 2019, arXiv 1812.02341 (generalisation gap). Raffin et al. 2021, "Stable-Baselines3" (evaluation).
    """
    score = view.get("reward/eval_return_mean")
    train = view.get("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")
    assert score is not None
    assert train is not None
    if not len(score) or not len(train):
        return None
    if len(train) <= 2 and len(score) <= 2:
        return of_single_rows(view, score, train, params)
    if len(score) < params.evals or len(train) < 2 * LEAST or moved(train).z < 5:
        return None
    if in_other_units(score, train, Other()):
        return None  # see `training-pays-otherwise`
    # Each evaluation against the training returns logged around the same time.
    near = np.interp(score.step, train.step, running(train.value))
    gaps = (near - score.value) / np.maximum(np.maximum(np.abs(near), np.abs(score.value)), 1e-300)
    learned = near - median(stretches(train.value)[0]) > 0.5 * moved(train).difference
    apart = (gaps >= params.gap) & learned
    many = len(score) >= params.sure and bool(apart[-params.sure :].all())
    many = many or scattered(score, gaps, learned, params)
    tells = many or opened(gaps, apart, learned, params)
    if not tells and not bool(apart[-params.evals :].all()):
        return None
    share = progress(view)
    if ended(view) or (many and share is not None and share >= 0.5):
        severity = Severity.ERROR
    else:
        severity = Severity.WARNING if tells else Severity.INFO
    over = persistent_onset(score.step, apart, params.evals)
    onset = view.onset(*over) if over is not None else from_start(view, score)
    low = median(score.value[-params.evals :])
    return report(view, score, float(near[-1]), low, severity, onset)


def of_single_rows(view: RunView, score: Points, train: Points, params: Params) -> Detection | None:
    """Judge a log of one or two rows: they cannot say whether anything was learned."""
    gap = (train.last - score.last) / max(abs(train.last), abs(score.last), 1e-300)
    if not ended(view) or gap < params.single:
        return None
    sampled = str(view.config("eval_deterministic", "")).lower() in ("true", "1") and on_policy(view)
    # Only a stated difference of action modes convicts.
    severity = Severity.ERROR if sampled and len(train) == len(score) == 1 else Severity.INFO
    return report(view, score, train.last, score.last, severity, from_start(view, score))


def scattered(score: Points, gaps: Floats, learned: NDArray[np.bool_], params: Params) -> bool:
    """Whether evaluations of a few episodes, which scatter, lie lower on the whole.

    Eight that all lie lower say so where they are far apart at the median, or less so where evaluation has not risen.
    """
    latest = gaps[-params.sure :]
    if len(score) < params.sure or not learned[-params.sure :].all():
        return False
    return bool(latest.min() > 0 and median(latest) >= (params.gap if rises(score) else params.flat_gap))


def opened(gaps: Floats, apart: NDArray[np.bool_], learned: NDArray[np.bool_], params: Params) -> bool:
    """Whether evaluations that agreed with training, once it had learned, all lie apart now; all of one length [n]."""
    if apart.size < params.opened or not bool(apart[-params.opened :].all()):
        return False
    start = int(np.flatnonzero(~apart)[-1]) + 1 if not apart.all() else 0
    near = learned[:start] & (gaps[:start] < 0.5 * params.gap)
    return start >= params.agreed and bool(near[start - params.agreed :].all())


def on_policy(view: RunView) -> bool:
    """Whether training acts by sampling from the policy itself, so that a deterministic evaluation differs."""
    return "on_policy" in traits_of(view.algorithm) or not view.algorithm


def running(value: Floats, size: int = 5) -> Floats:
    """Return the running median [n] of `value` over the last `size` points."""
    padded = np.concatenate([np.full(size - 1, value[0]), value])
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, size), axis=1)


def report(
    view: RunView, score: Points, train: float, evaluation: float, severity: Severity | None, onset: Onset
) -> Detection:
    """Build the detection."""
    mode = view.config("eval_deterministic")
    return Detection(
        message=f"evaluation return {evaluation:.4g} against {train:.4g} in training",
        onset=onset,
        metric=score.metric,
        evidence={"train_return": train, "eval_return": evaluation, "eval_deterministic": str(mode)},
        severity=severity,
    )
