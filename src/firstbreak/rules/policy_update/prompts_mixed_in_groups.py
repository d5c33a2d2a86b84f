"""The rule `prompts-mixed-in-groups`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

MIXED = "group/mixed_prompt_fraction"


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompts-mixed-in-groups`; by definition the share is 0."""

    frac: float = 0.01
    """Share of the groups with more than one prompt that is no matter. Engineering default."""
    rows: int = 2
    """Rows in a row that must show it: a single batch may be cut at the end of the data. Engineering default."""


GRPO = synth.like("GRPO")

CASES = (
    fires("every group", lambda: GRPO({MIXED: synth.constant(1.0)})),
    fires("some groups from the middle on", lambda: GRPO({MIXED: synth.jump(0.0, 0.25, at=0.5)})),
    healthy("one prompt a group", lambda: GRPO({MIXED: synth.constant(0.0)})),
    near_miss("the batch at the end of an epoch", lambda: GRPO({MIXED: synth.spikes(0.0, 0.2, at=(0.5,))})),
)


@rule(
    "POL046",
    "prompts-mixed-in-groups",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    needs=(MIXED,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "zero-std-groups"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Groups hold responses to several prompts, so that their mean is no baseline.

    What it means:
        A group is as many responses to one prompt as are compared with each other; here prompts differ within groups.

    Why it matters:
        The advantage then says which prompt was easier, not which response was better. Training still runs, still
        rises a little, and is far noisier.

    Usual causes:
        Rows repeated as P1 P2 P1 P2 where P1 P1 P2 P2 is expected, or shuffled after they were repeated; a sampler
        that splits groups between processes; a filter that drops single responses.

    What to try:
        Print the prompts of one group; repeat each prompt in a row, and shuffle before repeating.

    When it is harmless:
        Where prompts of a group differ on purpose (a paraphrase each) and are as hard as each other.

    References:
        Shao et al. 2024, arXiv 2402.03300, section 4.1: for each question a group of outputs is sampled.
    """
    points = view.get(MIXED)
    assert points is not None
    onset = persistent_onset(points.step, points.value > params.frac, params.rows)
    if onset is None:
        return None
    share = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"{share:.0%} of the groups hold responses to more than one prompt",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"mixed_frac": share},
    )
