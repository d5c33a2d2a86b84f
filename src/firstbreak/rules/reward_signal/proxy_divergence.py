"""The rule `proxy-divergence`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import (
    LEAST,
    OBJECTIVE,
    TRUTH,
    began,
    ended,
    falls,
    moved,
    moved_odds,
    rises,
    stretches,
)
from firstbreak.stats import median
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `proxy-divergence`. Engineering defaults where no source is named."""

    z: float = 5.0
    """Standard errors by which the training reward must have risen (inflated for autocorrelation)."""
    fall_z: float = 4.0
    """Standard errors by which the objective must have fallen to count as falling."""
    side_z: float = 4.0
    """Standard errors of a side metric (length, truncation, repetition, tool calls)."""
    side_ratio: float = 1.3
    """Growth of a side metric against the run's opening that is noticed. Engineering default."""
    strong_ratio: float = 2.0
    """Growth from which a side metric convicts; twice the baseline's length is the usual mark of inflation."""
    cut_ratio: float = 1.2
    """Growth of the length from which being cut off more often is a sign; answers of a fixed length, which learn to use
    all of it, grew by 1.15 in seven sound runs, those of a hacked reward by 1.23 and more (live campaigns 3, 5)."""
    rows: int = 30
    """Rows before flatness of the objective is stated: a drift test needs about 30."""
    success: float = 0.9
    """Success from which on the objective has nothing left to follow. Engineering default."""
    early_share: float = 0.5
    """Share of the reward's gain that must lie in the first half of the rows, so that the objective had time to
    follow."""
    guessed: float = 0.15
    """Share of successes that guessing among a few answers gives: a score that never was above it may ask for something
    else. Engineering default; such scores peaked at 0.14 in seven sound runs (live campaigns 3 and 5)."""


PROXY = ("reward/train_mean", "reward/rollout_mean", "reward/shaped_return_mean", "reward/episode_return_mean")
SAME = "reward/eval_return_mean"
"""The same return, played to measure it: that it lags behind training is the business of `train-eval-gap`."""
GRPO, FEW = synth.like("GRPO"), synth.like("GRPO", n=4)
HACK = {
    "reward/train_mean": synth.ramp(1.3, 2.6, 0.03, until=0.3),
    "reward/true_objective": synth.constant(0.0),
    "seq/len_mean": synth.ramp(15, 24, 0.01, until=0.3),
    "seq/truncated_fraction": synth.clipped(synth.ramp(0.4, 1.0, 0.02, until=0.3), 0, 1),
}
OTHER = {
    "reward/train_mean": synth.ramp(0.06, 0.99, 0.03, until=0.6),
    "reward/true_objective": synth.ramp(0.065, 0.002, 0.003, until=0.2),
    "seq/len_mean": synth.ramp(7.2, 8.0, 0.01, until=0.6),
    "seq/truncated_fraction": synth.clipped(synth.ramp(0.7, 1.0, 0.02, until=0.6), 0, 1),
}
CASES = (
    fires("reward doubles, accuracy stays 0, length to the cap", lambda: GRPO(HACK)),
    fires("accuracy falls while the reward rises", lambda: GRPO({"reward/true_objective": synth.ramp(0.5, 0.2, 0.05)})),
    fires(
        "reward up, benchmark flat, outputs longer",
        lambda: GRPO({"reward/score": synth.flat(0.42, 0.02), "seq/len_mean": synth.ramp(200, 900, 0.03)}),
    ),
    fires(
        "the same in four rows",
        lambda: FEW(
            {
                "reward/train_mean": synth.ramp(0.3, 0.8, 0.0),
                "reward/score": synth.ramp(0.42, 0.41, 0.0),
                "seq/len_mean": synth.ramp(200, 900, 0.0),
            }
        ),
    ),
    healthy("accuracy rises with the reward", lambda: GRPO({"reward/true_objective": synth.ramp(0.05, 0.7, 0.05)})),
    near_miss(
        "reward flat, accuracy flat, length grows", lambda: GRPO(HACK | {"reward/train_mean": synth.flat(1.3, 0.03)})
    ),
    near_miss(
        "greedy play scatters about its level while training still catches up",
        lambda: synth.like("SAC")(
            {
                "reward/episode_return_mean": synth.ramp(-42, -7, 0.05, until=0.3),
                "reward/eval_return_mean": synth.flat(-8, 0.5),
            }
        ),
    ),
    near_miss(
        "a score of something else falls from chance as the task is learnt, in answers as long as ever",
        lambda: GRPO(OTHER),
    ),
    near_miss(
        "accuracy rises late, with the length",
        lambda: GRPO(
            {
                "reward/true_objective": synth.clipped(synth.ramp(0.02, 0.6, 0.03, begin=0.1), 0, 1),
                "seq/len_mean": synth.ramp(200, 900, 0.03),
            }
        ),
    ),
)


@rule(
    "RWD006",
    "proxy-divergence",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    any_of=(PROXY, TRUTH),
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=(
        "heldout-regression",
        "reward-pays-length",
        "length-collapse",
        "truncation-growing",
        "no-eos-from-start",
        "tool-call-inflation",
        "repetition-rising",
        "token-entropy-collapse",
        "kl-ref-runaway",
        "train-eval-gap",
        "template-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The training reward rises while the task's own measure of success does not follow.

    What it means:
        Reward and objective were both logged. The reward gained clearly; the objective fell, or stayed where it was
        although it had half of the run to follow and behaviour changed meanwhile (longer, cut off, repetitive, more
        tool calls).

    Why it matters:
        The policy has found something that the reward pays for and the task does not. More training makes it better at
        that.

    Usual causes:
        A reward that pays length, format or activity; a scorer with loopholes; a reward model outside its training
        data.

    What to try:
        Check that the benchmark's temperature and limits equal the baseline's; then read the highest-reward samples;
        then remove the suspected component for a short run. If the reward falls and the objective rises, it was wrong.

    When it is harmless:
        An objective at its floor may follow late; without any change of behaviour this is only a hint. The fall of a
        score that never was better than guessing is left undecided: it may ask for what the task does not.

    References:
        Gao, Schulman and Hilton 2023, "Scaling laws for reward model overoptimization", arXiv 2210.10760. Singhal et
        al. 2023, "A long way to go", arXiv 2310.03716.
    """
    reward = view.get(*PROXY)
    truth = view.get(*TRUTH)
    assert reward is not None
    assert truth is not None
    if len(reward) < 2 * LEAST or len(truth) < 4:
        return few_rows(view, reward, truth, params)
    gain, follow = moved(reward), moved(truth)
    if gain.z < params.z or gain.difference <= 0 or rises(truth):
        return unsettled(reward, truth, params)
    side, strong = side_effect(view, params)
    fell = falls(truth, params.fall_z)
    waited = len(reward) >= params.rows and early_gain(reward, gain.difference) >= params.early_share
    if fell and not strong and never_better(truth, params.guessed):
        return Skip(
            "a score that never was better than guessing may ask for something else", ("samples of both",), True
        )
    if fell and (truth.metric in OBJECTIVE or side):
        severity = Severity.ERROR
    elif fell or not waited:
        return unsettled(reward, truth, params)
    elif strong:
        severity = Severity.ERROR if len(truth) >= LEAST else Severity.WARNING
    elif side and truth.metric in OBJECTIVE:
        severity = Severity.WARNING
    elif truth.metric == SAME:
        return None
    else:
        severity = Severity.INFO
    paid, how = f"reward {gain.reference:.3g} to {gain.recent:.3g}", f", {side}" if side else ""
    return Detection(
        message=f"{paid}, objective {follow.reference:.3g} to {follow.recent:.3g}{how}",
        onset=began(view, reward),
        metric=reward.metric,  # the proxy is what moves; the objective stays, or falls later
        evidence={
            "reward_opening": gain.reference,
            "reward_recent": gain.recent,
            "reward_z": gain.z,
            "objective_opening": follow.reference,
            "objective_recent": follow.recent,
            "objective_z": follow.z,
            "side_effect": side or "none",
        },
        severity=severity,
    )


def unsettled(reward: Points, truth: Points, params: Params) -> Answer:
    """Return that nothing can be said yet where the reward rises and the task's own success does not (so far)."""
    if truth.metric not in OBJECTIVE or not rises(reward) or rises(truth):
        return None
    if median(truth.value[-LEAST:]) >= params.success:
        return None
    return Skip("whether the objective follows the reward", ("more points (log oftener or run longer)",), True)


def early_gain(reward: Points, difference: float) -> float:
    """Share of the reward's gain that was already there in the middle of the rows."""
    middle = reward.value.size // 2
    return (
        median(reward.value[middle - LEAST // 2 : middle + LEAST // 2]) - median(stretches(reward.value)[0])
    ) / difference


def never_better(truth: Points, guessed: float) -> bool:
    """Whether a share of successes never was above what guessing gives, in any stretch as long as the opening."""
    if truth.min < 0 or truth.max > 1:
        return False
    size = stretches(truth.value)[0].size
    return bool(np.convolve(truth.value, np.full(size, 1 / size), "valid").max() <= guessed)


SIDES = {
    "seq/len_mean": "length",
    "seq/repetition_fraction": "repetition",
    "tool/calls_mean": "tool calls",
    "env/turns_mean": "turns",
}


def side_effect(view: RunView, params: Params) -> tuple[str, bool]:
    """Name the behaviour metric that has grown abnormally, with its levels, and say whether it grew strongly.

    That more answers are cut off says something where they grow: those of a fixed length all end at the limit.
    """
    mild = ""
    cut, length = view.get("seq/truncated_fraction"), view.get("seq/len_mean")
    longer = length is None or moved(length).recent >= params.cut_ratio * moved(length).reference
    if cut is not None and len(cut) >= 2 * LEAST and longer:
        before, now = stretches(cut.value)
        change = moved_odds(cut)
        if change.z >= params.side_z and change.difference >= 1 and median(now) >= 0.2:
            return f"cut off {median(before):.0%} to {median(now):.0%}", True
    for name, word in SIDES.items():
        points = view.get(name)
        if points is None or len(points) < 2 * LEAST:
            continue
        change = moved(points)
        if change.z < params.side_z or change.recent < params.side_ratio * change.reference:
            continue
        text = f"{word} {change.reference:.3g} to {change.recent:.3g}"
        if change.recent >= params.strong_ratio * change.reference:
            return text, True
        mild = mild or text
    return mild, False


def few_rows(view: RunView, reward: Points, truth: Points, params: Params) -> Answer:
    """Judge a log of a few rows that is over: all three of the signs must be plain, and it is a warning at most."""
    length = view.get("seq/len_mean", "tool/calls_mean", "seq/truncated_fraction")
    if not ended(view) or length is None or min(len(reward), len(truth), len(length)) < 2 or len(reward) >= LEAST:
        waiting = unsettled(reward, truth, params)
        return waiting or Skip(
            "needs 16 rows of reward and 4 of the objective", ("reward/true_objective", "more points")
        )
    up = reward.last == reward.max > reward.first + 0.2 * max(abs(reward.first), abs(reward.last))
    longer = length.last == length.max > 1.5 * length.first
    if not up or not longer or truth.last > truth.first:
        return None
    paid = f"reward {reward.first:.3g} to {reward.last:.3g}"
    return Detection(
        message=f"{paid}, score {truth.first:.3g} to {truth.last:.3g}, {length.metric} grows",
        onset=view.onset(reward.step[0], reward.step[-1]),
        metric=reward.metric,
        evidence={
            f"{name}_{end}": getattr(points, end)
            for name, points in (("reward", reward), ("objective", truth), ("side", length))
            for end in ("first", "last")
        },
        severity=Severity.WARNING,
    )
