"""The rule `prompts-used-up`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import HELD_OUT
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.stats.level import level
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompts-used-up`: engineering defaults, except where a source is named."""

    level: float = 0.6
    """Share of groups with every response right; above half, most of the batch teaches nothing. Engineering default."""
    sagged: float = 0.5
    """Distance of the held-out score from its best, as a share of its range, for a warning. Engineering default."""
    points: int = 8
    """Consecutive newest points."""
    lost: float = 0.25
    """Share of the best four evaluations in a row that the latest four must have lost for a warning, each of them below
    each of those: of two samples of four of one score, one in seventy is apart so. Engineering default."""


GRPO = synth.like("GRPO")

ALL = "group/all_solved_fraction"

CASES = (
    fires("three in four prompts are always solved", lambda: GRPO({ALL: synth.clipped(synth.ramp(0.1, 0.75), 0, 1)})),
    fires(
        "and the held-out score falls back",
        lambda: GRPO(
            {
                ALL: synth.clipped(synth.ramp(0.1, 0.95, until=0.4), 0, 1),
                "reward/eval_mean": synth.after(0.4, synth.flat(0.45, 0.05), synth.ramp(0.3, 0.9, 0.02, until=0.3)),
            }
        ),
    ),
    fires(
        "the held-out score loses a third of what it reached",
        lambda: GRPO(
            {
                ALL: synth.clipped(synth.ramp(0.1, 0.95, until=0.4), 0, 1),
                "reward/eval_mean": synth.after(0.4, synth.flat(0.6, 0.03), synth.ramp(0.1, 0.9, 0.02, until=0.3)),
            }
        ),
    ),
    healthy("few", lambda: GRPO({ALL: synth.clipped(synth.flat(0.15, 0.1), 0, 1)})),
    near_miss("one easy batch", lambda: GRPO({ALL: synth.spikes(0.2, 0.9, at=(0.5,))})),
    near_miss("silent because all is wrong", lambda: GRPO({ALL: synth.constant(0.0)})),
)


@rule(
    "ENV019",
    "prompts-used-up",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.INFO,
    needs=(ALL,),
    when=("groups",),
    min_points=8,
    implies=("zero-std-groups", "grad-norm-zero", "advantage-collapse", "best-long-past"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Most prompts are solved by every response, so they teach nothing any more.

    What it means:
        Most groups are silent because all their responses are right: the training set is used up, not broken.

    Why it matters:
        Compute is spent on what is known; the gradient comes from the few prompts left and gets noisier.

    Usual causes:
        A training set that is too easy by now; no filter by difficulty.

    What to try:
        Drop solved prompts (dynamic sampling), add harder ones, or stop: the run may be done.

    When it is harmless:
        At the end of a run that reached its aim. If it is so from the start, look at the scorer.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.2.
    """
    solved = view.get(ALL)
    assert solved is not None
    over = solved.value >= params.level
    if not bool(over[-params.points :].all()):
        return None
    onset = persistent_onset(solved.step, over, params.points)
    assert onset is not None
    recent = median(solved.value[-params.points :])
    return Detection(
        message=f"{recent:.0%} of the groups are solved by every response",
        onset=view.onset(*onset),
        metric=ALL,
        evidence={"solved_frac": recent},
        severity=Severity.WARNING if sags(view, params) else None,
    )


def sags(view: RunView, params: Params) -> bool:
    """Whether a held-out score has given up what it had gained: what is left to train on no longer helps it."""
    scores = (points for name in HELD_OUT if (points := view.get(name)) is not None)
    return any(
        len(points) >= params.points and (level(points.value).shortfall >= params.sagged or fell(points.value, params))
        for points in scores
    )


def fell(score: Floats, params: Params) -> bool:
    """Whether the latest four of evaluations [n] all lie below the best four in a row, and far below on the whole.

    The best four are those whose least is the highest.
    """
    fours = np.lib.stride_tricks.sliding_window_view(score, 4)
    best, now = fours[int(np.argmax(fours[:-3].min(axis=1)))], fours[-1]
    return bool(now.max() < best.min() and median(now) <= (1 - params.lost) * median(best))
