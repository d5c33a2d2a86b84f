"""The rule `eval-step-change`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import HELD_OUT, LEAST, TRAIN
from firstbreak.runlog import Phase
from firstbreak.stats import compare, mad, step_change
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `eval-step-change`. Engineering defaults where no source is named."""

    around: int = 4
    """Evaluations before and after that must agree among themselves."""
    widths: float = 6.0
    """Jump over the spread of those evaluations. Engineering default."""
    share: float = 0.2
    """Jump over the range of the evaluation curve."""


CHANGES = frozenset({"resume", "restart", "roll_back", "stage", "eval_protocol"})
"""Events after which evaluation may be another one. An alarm, a checkpoint, an evaluation or the end is none."""
PHASES = (Phase("start", 0, 60), Phase("resume", 61, 120))
PPO = synth.like("PPO", phases=PHASES)
JUMP = {
    "reward/episode_return_mean": synth.flat(300, 0.03),
    "reward/eval_return_mean": synth.jump(320, 150, at=0.5, noise=0.03),
}
CASES = (
    fires("evaluation halves at the resume, training goes on", lambda: PPO(JUMP)),
    fires("the same without a known event: a hint", lambda: synth.like("PPO")(JUMP)),
    healthy("both rise", lambda: PPO({"reward/eval_return_mean": synth.ramp(25, 420, 0.05)})),
    near_miss(
        "training jumps too",
        lambda: PPO(JUMP | {"reward/episode_return_mean": synth.jump(300, 140, at=0.5, noise=0.03)}),
    ),
    near_miss("noisy evaluation", lambda: PPO(JUMP | {"reward/eval_return_mean": synth.walk(300, 30, rho=0.3)})),
)


@rule(
    "EVA008",
    "eval-step-change",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    any_of=(HELD_OUT, TRAIN),
    min_points=16,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("train-eval-gap", "best-long-past"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The evaluation score jumps while training goes on as before.

    What it means:
        From one evaluation to the next the score changes by far more than its noise, and the training reward does not.

    Why it matters:
        Scores before and after are of two protocols and must not be compared.

    Usual causes:
        Other temperature, limits, prompt or data after a resume; a normaliser that was not restored; another judge.

    What to try:
        Evaluate one old checkpoint with today's protocol; store a hash of the protocol with every score.

    When it is harmless:
        A planned change of the evaluation, marked as such: `monitor.event("eval_protocol")`.

    References:
        Machado et al. 2018, arXiv 1709.06009 (evaluation protocols).
    """
    score, train = view.get(*HELD_OUT), view.get(*TRAIN)
    assert score is not None
    assert train is not None
    n = params.around
    if len(score) < 4 * n or len(train) < 4 * n:
        return None
    change = step_change(score.step, score.value, n)
    if change is None:
        return None
    at = int(np.searchsorted(score.step, 0.5 * (change.lo + change.hi), side="right"))
    at = min(max(at, n), len(score) - n)
    best = max(
        range(max(n, at - 2), min(len(score) - n, at + 2) + 1), key=lambda i: abs(score.value[i] - score.value[i - 1])
    )
    before, after = score.value[best - n : best], score.value[best : best + n]
    jump = float(np.median(after) - np.median(before))
    spread = max(mad(np.diff(score.value)) / np.sqrt(2), float(before.std()), float(after.std()))
    if abs(jump) < params.widths * spread or abs(jump) < params.share * float(np.ptp(score.value)):
        return None
    left, right = train.value[train.step < score.step[best]], train.value[train.step >= score.step[best]]
    if min(left.size, right.size) < LEAST or abs(compare(left[-4 * LEAST :], right[: 4 * LEAST]).z) > 3:
        return None
    lo, hi = float(score.step[best - 1]), float(score.step[best])
    marked = any(lo - score.cadence <= p.lo <= hi + score.cadence for p in view.log.phases[1:]) or any(
        lo - score.cadence <= e.at <= hi for e in view.log.events if e.name in CHANGES
    )
    return Detection(
        message=f"evaluation jumps from {np.median(before):.4g} to {np.median(after):.4g} while training does not",
        onset=view.onset(lo, hi),
        metric=score.metric,
        evidence={
            "before": float(np.median(before)),
            "after": float(np.median(after)),
            "spread": spread,
            "at_event": marked,
        },
        severity=Severity.WARNING if marked else Severity.INFO,
    )
