"""The rule `hedged-answers-paid`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

HEDGED = "reward/hedged_paid_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `hedged-answers-paid`; engineering defaults."""

    frac: float = 0.5
    """Share of prompts at which right and wrong answer together earn what the right one earns."""
    looks: int = 2
    """Looks in a row that must show it."""


GRPO = synth.like("GRPO")

CASES = (
    fires("the verifier looks for the answer anywhere", lambda: GRPO({HEDGED: synth.constant(1.0)})),
    fires("since a change of the verifier", lambda: GRPO({HEDGED: synth.jump(0.0, 1.0, at=0.5, noise=0.0)})),
    healthy("the one final answer is compared", lambda: GRPO({HEDGED: synth.constant(0.0)})),
    near_miss("a few answers hold each other", lambda: GRPO({HEDGED: synth.clipped(synth.flat(0.2, 0.05), 0, 1)})),
    near_miss("one look at a small batch", lambda: GRPO({HEDGED: synth.spikes(0.0, 1.0, at=(0.5,))})),
)


@rule(
    "RWD045",
    "hedged-answers-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(HEDGED,),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """A response that names the right answer and a wrong one is paid as the right answer is.

    What it means:
        The reward functions were given, as responses, a prompt's reference answer together with that of another
        prompt, in both orders; they paid both in full.

    Why it matters:
        Listing answers is easier to learn than finding the right one. The training reward rises, and true accuracy
        need not.

    Usual causes:
        `answer in response`; a regular expression without an anchor; a judge that looks for the key facts only.

    What to try:
        Parse one final answer and compare it whole; refuse a response that gives several. `firstbreak audit verifier`
        searches for the shortest responses that pass.

    When it is harmless:
        Where naming is all that is asked: retrieval, recall of key words, lists.

    References:
        Skalse et al. 2022, arXiv 2209.13085; Krakovna et al. 2020, "Specification gaming: the flip side of AI
        ingenuity".
    """
    points = view.get(HEDGED)
    assert points is not None
    onset = persistent_onset(points.step, points.value >= params.frac, params.looks)
    if onset is None:
        return None
    frac = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"a right and a wrong answer together earn what the right one earns at {frac:.0%} of prompts",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"prompts_frac": frac},
    )
