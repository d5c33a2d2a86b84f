"""The rule `cut-answers-paid`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

CUT = "reward/cut_reference_paid_frac"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `cut-answers-paid`; engineering defaults where no source is named."""

    frac: float = 0.5
    """Share of prompts at which half of the right answer, one word, is paid in full."""
    looks: int = 2
    """Looks in a row that must show it."""


CASES = (
    fires("whatever begins like the answer is paid", lambda: GRPO({CUT: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({CUT: synth.jump(0.0, 0.9, 0.5, 0.0)})),
    healthy("only the whole answer is", lambda: GRPO({CUT: synth.constant(0.0)})),
    near_miss(
        "answers such as 'yes', of which the first letter is read",
        lambda: GRPO({CUT: synth.clipped(synth.flat(0.2, 0.1), 0, 0.45)}),
    ),
    near_miss("one look", lambda: GRPO({CUT: synth.spikes(0.0, 0.6, at=(0.5,), noise=0.0)})),
)


@rule(
    "RWD051",
    "cut-answers-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(CUT,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-redefined",
        "length-collapse",
        "scorer-drift",
        "false-success-rising",
        "zero-std-groups",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The scorer pays the first half of a right answer as if it were all of it.

    What it means:
        Reference answers of one word were cut in half and scored as responses: "7" for "72". They are paid in
        full.

    Why it matters:
        The policy learns to stop early or to begin well; reward and true score part, and the log shows a reward
        that rises.

    Usual causes:
        An answer that is compared by how it begins; a judge that is won over by an opening; a response cut to
        the reference's length, or the reverse.

    What to try:
        Put cut, empty and wrong answers to the scorer by hand; `firstbreak audit verifier` does it.

    When it is harmless:
        Answers of which a part says all, such as yes and no.

    References:
        Zhao et al. 2025, arXiv 2507.08794 (openings that fool judges).
    """
    points = view.get(CUT)
    assert points is not None
    wrong = points.value >= params.frac
    onset = persistent_onset(points.step, wrong, params.looks)
    if onset is None:
        return None
    share = median(points.value[wrong & (points.step >= onset[1])])
    return Detection(
        message=f"at {share:.0%} of the prompts the first half of the right answer is paid like all of it",
        onset=view.onset(*onset),
        metric=CUT,
        evidence={"paid_frac": share},
        severity=Severity.ERROR if share >= 0.9 else None,
    )
