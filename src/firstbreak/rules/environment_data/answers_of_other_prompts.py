"""The rule `answers-of-other-prompts`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

MISPLACED = "reward/reference_misplaced_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `answers-of-other-prompts`; engineering defaults."""

    frac: float = 0.5
    """Share of prompts at which the one paid answer is another prompt's. With keys that fit it is 0."""
    looks: int = 2
    """Looks in a row that must show it."""


GRPO = synth.like("GRPO")

CASES = (
    fires("keys shifted by a row", lambda: GRPO({MISPLACED: synth.constant(1.0)})),
    fires("since a change of the data", lambda: GRPO({MISPLACED: synth.jump(0.0, 0.8, at=0.5, noise=0.0)})),
    healthy("each prompt's own answer is paid", lambda: GRPO({MISPLACED: synth.constant(0.0)})),
    near_miss("one prompt in four has a wrong key", lambda: GRPO({MISPLACED: synth.constant(0.25)})),
    near_miss("one look", lambda: GRPO({MISPLACED: synth.spikes(0.0, 1.0, at=(0.5,))})),
)


@rule(
    "ENV033",
    "answers-of-other-prompts",
    link=Link.ENVIRONMENT_DATA,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(MISPLACED,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "scorer-drift",
        "reward-redefined",
        "reference-paid-less",
        "return-collapse",
        "zero-std-groups",
        "reward-flat",
        "reward-std-collapse",
        "reward-steps-down",
        "task-too-hard",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The one answer that the scorer pays at a prompt is the reference answer of another prompt.

    What it means:
        Of several reference answers of the data, given as responses to one prompt, the scorer paid just one, and not
        the prompt's own.

    Why it matters:
        Every reward is wrong, and none looks it: the policy is taught the answers of other questions.

    Usual causes:
        A column that was sorted, filtered or shifted on its own; answers looked up by place in a batch that was
        shuffled; a group whose rows got out of step with their prompts.

    What to try:
        Print prompt, reference and score of five rows as the scorer gets them.

    When it is harmless:
        Where the column that is taken for the reference belongs to something else.

    References:
        None; a scorer that fits its data pays each prompt's own answer.
    """
    points = view.get(MISPLACED)
    assert points is not None
    onset = persistent_onset(points.step, points.value >= params.frac, params.looks)
    if onset is None:
        return None
    share = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"at {share:.0%} of prompts the one answer that is paid belongs to another prompt",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"prompts_frac": share},
    )
