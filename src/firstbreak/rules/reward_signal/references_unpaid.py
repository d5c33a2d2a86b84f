"""The rule `references-unpaid`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

UNPAID = "reward/reference_unpaid_frac"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `references-unpaid`; engineering defaults where no source is named."""

    frac: float = 0.15
    """Share of prompts whose own reference answer gets the score of a wrong one, where others are paid."""
    looks: int = 3
    """Looks over which the median is taken: a look asks some eight prompts."""
    many: float = 0.4
    """Share that makes it an error."""


CASES = (
    fires("half of the answers are not read", lambda: GRPO({UNPAID: synth.clipped(synth.flat(0.5, 0.2), 0.1, 0.9)})),
    fires("from half-way on", lambda: GRPO({UNPAID: synth.jump(0.0, 0.4, 0.5, 0.0)})),
    healthy("all are paid", lambda: GRPO({UNPAID: synth.constant(0.0)})),
    near_miss("a look at an odd prompt", lambda: GRPO({UNPAID: synth.spikes(0.0, 0.3, at=(0.2, 0.5, 0.8), noise=0.0)})),
)


@rule(
    "RWD050",
    "references-unpaid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(UNPAID,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "zero-std-groups",
        "reward-redefined",
        "scorer-drift",
        "reward-flat",
        "reward-steps-down",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The verifier refuses right answers: reference answers of the data get the score of wrong ones.

    What it means:
        Each prompt's own reference answer was scored as a response to it. The verifier, which tells right from
        wrong at other prompts, pays nothing for some.

    Why it matters:
        The policy is punished for right answers of one form, and learns the forms that can be read instead of
        the task.

    Usual causes:
        A pattern or parser that reads some forms only (fractions, units, signs, letters); answers that were
        normalised on one side only; an error that is counted as 0.

    What to try:
        Score all reference answers by hand and print those that are not paid; `firstbreak audit verifier` tries
        equivalent forms.

    When it is harmless:
        Where references hold more than the answer (a derivation) and the verifier reads a mark that some lack.

    References:
        Reported: verl issue 1789, unsloth issue 1761. Huang et al. 2025, arXiv 2505.22203 (false negatives of
        verifiers).
    """
    points = view.get(UNPAID)
    assert points is not None
    if len(points) < params.looks:
        return None
    middles = np.median(np.lib.stride_tricks.sliding_window_view(points.value, params.looks), axis=1)
    over = np.flatnonzero(middles >= params.frac)
    if not over.size:
        return None
    first = int(over[0]) + int(np.argmax(points.value[over[0] : over[0] + params.looks] >= params.frac))
    share = float(np.median(middles[over]))
    return Detection(
        message=f"the verifier pays nothing for {share:.0%} of the reference answers, and pays the others",
        onset=view.onset(float(points.step[max(first - 1, 0)]), float(points.step[first])),
        metric=UNPAID,
        evidence={"unpaid_frac": share},
        severity=Severity.ERROR if share >= params.many else None,
    )
