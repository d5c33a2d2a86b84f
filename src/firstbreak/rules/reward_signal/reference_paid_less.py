"""The rule `reference-paid-less`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

MARGIN = "reward/reference_margin"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reference-paid-less`; engineering defaults."""

    margin: float = -0.5
    """Share of prompts whose own answer is paid more than another's less the share where it is paid less: at -0.5 at
    least half are paid less, where chance gives 0."""
    looks: int = 2
    """Looks in a row that must show it."""


GRPO = synth.like("GRPO")

CASES = (
    fires("the sign is wrong", lambda: GRPO({MARGIN: synth.constant(-1.0)})),
    fires("the sign changes half-way", lambda: GRPO({MARGIN: synth.jump(1.0, -0.9, at=0.5)})),
    healthy("right answers are paid", lambda: GRPO({MARGIN: synth.constant(1.0)})),
    near_miss("no reference is in the form that is paid", lambda: GRPO({MARGIN: synth.constant(0.0)})),
    near_miss("a scorer that rolls dice", lambda: GRPO({MARGIN: synth.clipped(synth.flat(0.0, 0.2), -1, 1)})),
)


@rule(
    "RWD044",
    "reference-paid-less",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(MARGIN,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-redefined", "return-collapse", "zero-std-groups", "smooth-decline"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The scorer pays a prompt's own reference answer less than the reference answer of another prompt.

    What it means:
        Given the right answers of the data as responses, the reward functions prefer wrong ones.

    Why it matters:
        Whatever the policy learns, it learns to be wrong; reward and true score part from the first update.

    Usual causes:
        A sign that was changed twice or not at all (a distance or a loss taken for a reward); arguments in the wrong
        order; answers compared with the key of another column.

    What to try:
        Call the reward functions by hand with one right and one wrong answer; `firstbreak audit verifier` does it on
        many.

    When it is harmless:
        Where the column that is taken for the reference holds something else.

    References:
        Krakovna et al. 2020, "Specification gaming: the flip side of AI ingenuity"; Ziegler et al. 2019,
        arXiv 1909.08593, section 4.4 (a flipped sign optimised over night).
    """
    points = view.get(MARGIN)
    assert points is not None
    onset = persistent_onset(points.step, points.value <= params.margin, params.looks)
    if onset is None:
        return None
    margin = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"right answers are paid less than wrong ones (margin {margin:.2f} of -1 to 1)",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"margin": margin},
    )
