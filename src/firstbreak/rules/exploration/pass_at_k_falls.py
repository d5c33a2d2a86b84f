"""The rule `pass-at-k-falls`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import HELD_OUT, TRAIN
from firstbreak.stats import linear_trend
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `pass-at-k-falls`: engineering defaults, except where a source is named."""

    drop: float = 0.05
    """Fall of pass@k along the fitted line, as a fraction of problems. Engineering default."""
    z: float = -3.0
    """z of that slope."""
    down: float = -2.0
    """z of the line through the score of single tries under which they fall, too."""
    points: int = 6
    """Evaluations needed."""


GRPO = synth.like("GRPO")
FALLING = {"reward/eval_pass_at_k": synth.ramp(0.7, 0.5, 0.01)}

CASES = (
    fires(
        "pass@k falls, and single tries with it",
        lambda: GRPO(FALLING | {HELD_OUT[0]: synth.ramp(0.5, 0.3, 0.02)}),
    ),
    fires(
        "pass@k falls, and the reward with it, where single tries are not scored on held-out problems",
        lambda: GRPO(FALLING | {"reward/train_mean": synth.ramp(0.6, 0.3, 0.02)}),
    ),
    fires(
        "a note where single tries hold: the policy sharpens",
        lambda: GRPO(FALLING | {HELD_OUT[0]: synth.flat(0.4, 0.02)}),
    ),
    healthy("pass@k rises", lambda: GRPO({"reward/eval_pass_at_k": synth.ramp(0.6, 0.75, 0.02)})),
    near_miss("pass@k wobbles", lambda: GRPO({"reward/eval_pass_at_k": synth.flat(0.7, 0.03)})),
)


@rule(
    "EXP012",
    "pass-at-k-falls",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("reward/eval_pass_at_k",),
    when=("language",),
    min_points=6,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The share of problems that any of k tries solves is falling.

    What it means:
        Training sharpens the policy on what it already solves and gives up the rest. Where single tries fall with it,
        nothing was sharpened: ability is lost.

    Why it matters:
        Single-try accuracy can rise meanwhile; the reachable ceiling sinks.

    Usual causes:
        Entropy used up; no KL anchor; prompts that are too easy.

    What to try:
        Compare pass@k of start and now at temperature 1 on the same problems; clip higher or anchor by KL.

    When it is harmless:
        When only single tries matter. Sound training on verifiable rewards does this, too (Yue et al. 2025), so it is
        a note while single tries hold, and a warning where they fall as well.

    References:
        Yue et al. 2025, arXiv 2504.13837. Chen et al. 2021, arXiv 2107.03374 (the unbiased estimator).
    """
    passed = view.get("reward/eval_pass_at_k")
    assert passed is not None
    trend = linear_trend(passed.step, passed.value)
    if trend.change > -params.drop or trend.z > params.z:
        return None
    return Detection(
        message=f"pass@k fell from {trend.start:.3g} to {trend.end:.3g} over {trend.n} evaluations",
        onset=view.onset(float(passed.step[0]), float(passed.step[len(passed) // 2])),
        metric=passed.metric,
        evidence={"start_frac": trend.start, "end_frac": trend.end, "z": trend.z},
        severity=None if falls(view.get(*HELD_OUT) or view.get(*TRAIN), params) else Severity.INFO,
    )


def falls(single: Points | None, params: Params) -> bool:
    """Whether the score of single tries goes down along its line."""
    if single is None or len(single) < params.points:
        return False
    return linear_trend(single.step, single.value).z < params.down
