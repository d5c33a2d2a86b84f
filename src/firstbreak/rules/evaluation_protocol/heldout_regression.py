"""The rule `heldout-regression`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import HELD_OUT, LEAST, TRAIN, began, ended, falls, moved
from firstbreak.stats import Comparison, median, monotone_z
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `heldout-regression`. Engineering defaults where no source is named."""

    reward_z: float = 3.0
    """Standard errors by which the training reward must have risen."""
    fall_z: float = 4.0
    """Standard errors by which the held-out score must have fallen (inflated for autocorrelation)."""
    sure_z: float = 6.0
    """Standard errors, with at least 16 evaluations, from which it is an error."""
    sure_share: float = 0.2
    """Share of the opening score that must be lost for an error."""
    few_z: float = -3.0
    """Mann-Kendall z of 8 to 15 evaluations that fall nearly one by one. A line through so few says little where the
    curve bends."""
    few_share: float = 0.5
    """Share of the opening score that such a fall must have cost: then it is an error."""
    hint_share: float = 0.05
    """Relative fall over two or three evaluations that is worth a hint."""
    large_share: float = 0.5
    """Relative fall over two or three evaluations that is more than noise in any usual evaluation."""


GRPO = synth.like("GRPO")
TEN = synth.like("GRPO", n=10)
TWO = synth.like("GRPO", n=2)
CASES = (
    fires("held-out falls while training rises", lambda: GRPO({"reward/eval_mean": synth.ramp(0.6, 0.35, 0.03)})),
    fires(
        "two rows: a hint",
        lambda: TWO({"reward/train_mean": synth.ramp(0.6, 0.75, 0.0), "reward/eval_mean": synth.ramp(0.6, 0.55, 0.0)}),
    ),
    healthy("held-out rises too", lambda: GRPO({"reward/eval_mean": synth.ramp(0.3, 0.6, 0.03)})),
    fires("ten evaluations that lose nearly all", lambda: TEN({"reward/eval_mean": synth.geometric(0.5, 0.01, 0.05)})),
    near_miss("ten that go up and down", lambda: TEN({"reward/eval_mean": synth.flat(0.5, 0.1)})),
    near_miss("held-out flat and noisy", lambda: GRPO({"reward/eval_mean": synth.walk(0.5, 0.04, rho=0.3)})),
    near_miss(
        "both fall",
        lambda: GRPO({"reward/train_mean": synth.ramp(0.6, 0.2), "reward/eval_mean": synth.ramp(0.6, 0.35, 0.03)}),
    ),
    near_miss(
        "two noisy rows, no fall",
        lambda: TWO({"reward/train_mean": synth.ramp(0.6, 0.75, 0.0), "reward/eval_mean": synth.ramp(0.6, 0.595, 0.0)}),
    ),
)


@rule(
    "EVA003",
    "heldout-regression",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    any_of=(HELD_OUT, TRAIN),
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("best-long-past", "pass-at-k-falls"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The held-out score falls while the training reward rises.

    What it means:
        Both were logged; one went up, the other down, beyond their noise.

    Why it matters:
        What is learned does not carry over: later checkpoints are worse where it counts.

    Usual causes:
        Training prompts or levels are memorised; no anchor to the reference model; the reward pays for something the
        evaluation does not value; the evaluation changed.

    What to try:
        Score the first and the current checkpoint on a fresh set with the same sampling; stop at the best one; a short
        run with a larger KL coefficient.

    When it is harmless:
        Two or three evaluations cannot tell a fall from noise: then this is a hint.

    References:
        Cobbe et al. 2019, arXiv 1812.02341. Blum and Hardt 2015, arXiv 1502.04585.
    """
    score, reward = view.get(*HELD_OUT), view.get(*TRAIN)
    assert score is not None
    assert reward is not None
    if len(score) < 4 or len(reward) < 4:
        return two_rows(view, score, reward, params)
    loss, gain = moved(score), moved(reward)
    if gain.z < params.reward_z:
        return None
    if LEAST <= len(score) < 2 * LEAST and (lost := lost_one_by_one(view, score, gain, params)) is not None:
        return lost
    if loss.z > -params.fall_z or not falls(score):
        return None
    scale = max(abs(loss.reference), abs(loss.recent))
    sure = len(score) >= 2 * LEAST and loss.z <= -params.sure_z and -loss.difference >= params.sure_share * scale
    return Detection(
        message=f"held-out {loss.reference:.3g} to {loss.recent:.3g}; train {gain.reference:.3g} to {gain.recent:.3g}",
        onset=began(view, score),
        metric=score.metric,
        evidence={
            "heldout_opening": loss.reference,
            "heldout_recent": loss.recent,
            "heldout_z": loss.z,
            "train_opening": gain.reference,
            "train_recent": gain.recent,
        },
        severity=Severity.ERROR if sure else Severity.WARNING,
    )


def lost_one_by_one(view: RunView, score: Points, gain: Comparison, params: Params) -> Detection | None:
    """Judge 8 to 15 evaluations: fallen nearly one by one, to less than half of where they began."""
    before, now = median(score.value[:3]), median(score.value[-3:])
    if monotone_z(score.value) > params.few_z or before - now < params.few_share * abs(before):
        return None
    return Detection(
        message=f"held-out {before:.3g} to {now:.3g}; train {gain.reference:.3g} to {gain.recent:.3g}",
        onset=began(view, score),
        metric=score.metric,
        evidence={
            "heldout_opening": before,
            "heldout_recent": now,
            "heldout_z": monotone_z(score.value),
            "train_opening": gain.reference,
            "train_recent": gain.recent,
        },
        severity=Severity.ERROR,
    )


def two_rows(view: RunView, score: Points, reward: Points, params: Params) -> Answer:
    """Judge two or three evaluations of a log that is over: a hint, or a warning when the fall exceeds its error."""
    if not ended(view) or len(score) < 2 or len(reward) < 2:
        return Skip("needs 4 evaluations", ("more evaluations",))
    fall = score.first - score.last
    if reward.last <= reward.first or fall < params.hint_share * max(abs(score.first), abs(score.last)):
        return None
    large = fall >= params.large_share * max(abs(score.first), abs(score.last))
    severity = Severity.WARNING if large else Severity.INFO
    episodes = view.number("eval_episodes")
    if episodes is not None and episodes >= 1 and 0 <= score.last <= score.first <= 1:
        middle = 0.5 * (score.first + score.last)
        # Standard error of the difference of two binomial shares.
        if fall > 3 * np.sqrt(2 * middle * (1 - middle) / episodes):
            severity = Severity.WARNING
    return Detection(
        message=f"held-out {score.first:.3g} to {score.last:.3g}, training {reward.first:.3g} to {reward.last:.3g}",
        onset=view.onset(score.step[0], score.step[-1]),
        metric=score.metric,
        evidence={
            "heldout_first": score.first,
            "heldout_last": score.last,
            "train_first": reward.first,
            "train_last": reward.last,
        },
        severity=severity,
    )
