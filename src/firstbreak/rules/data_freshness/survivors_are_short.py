"""The rule `survivors-are-short`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `survivors-are-short`: engineering defaults, except where a source is named."""

    share: float = 0.85
    """Length of what is trained over the length of what was sampled. Engineering default."""
    points: int = 8
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

KEPT, SAMPLED = "seq/len_mean", "seq/len_sampled_mean"

CASES = (
    fires(
        "long trajectories are dropped as stale",
        lambda: GRPO({KEPT: synth.flat(300, 0.03), SAMPLED: synth.flat(520, 0.03)}),
    ),
    healthy("what is sampled is trained", lambda: GRPO({KEPT: synth.flat(300, 0.03), SAMPLED: synth.flat(302, 0.03)})),
    near_miss("long ones are preferred", lambda: GRPO({KEPT: synth.flat(400, 0.03), SAMPLED: synth.flat(300, 0.03)})),
    near_miss(
        "a few batches", lambda: GRPO({KEPT: synth.flat(300, 0.03), SAMPLED: synth.spikes(300, 600, at=(0.3, 0.6))})
    ),
)


@rule(
    "DAT015",
    "survivors-are-short",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    needs=(KEPT, SAMPLED),
    when=("language",),
    min_points=8,
    implies=("length-collapse",),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """What is trained on is clearly shorter than what was sampled.

    What it means:
        The mean length of the samples that reach the learner is at least 15 % below that of everything sampled.

    Why it matters:
        Long trajectories arrive late and are dropped as stale, cut, or lost to time limits; the survivors teach
        brevity, and the reward rises or falls by selection alone.

    Usual causes:
        Batches filled with whatever ends first; a bound on staleness in steps; time limits in the environment.

    What to try:
        Compare by launch cohort: train on groups in the order in which they were started; count drops by length.

    When it is harmless:
        When long samples are dropped on purpose and the filter is part of the method.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 4.1 (interruptible rollouts).
    """
    kept, sampled = view.get(KEPT), view.get(SAMPLED)
    assert kept is not None
    assert sampled is not None
    common = sorted(set(kept.step.tolist()) & set(sampled.step.tolist()))
    if len(common) < params.points:
        return None
    whole = sampled.value[np.isin(sampled.step, common)]
    if bool((whole <= 0).any()):
        return None
    ratio = kept.value[np.isin(kept.step, common)] / whole
    short = ratio <= params.share
    if not bool(short[-params.points :].all()):
        return None
    onset = persistent_onset(np.array(common), short, params.points)
    assert onset is not None
    recent = median(ratio[-params.points :])
    return Detection(
        message=f"trained samples are {recent:.0%} as long as what was sampled",
        onset=view.onset(*onset),
        metric=KEPT,
        evidence={"ratio": recent},
    )
