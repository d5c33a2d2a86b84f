"""The rule `refusal-drift`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import began, moved_odds, stretches
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `refusal-drift`: engineering defaults, except where a source is named."""

    z: float = 4.0
    """Standard errors by which the log-odds of a refusal must have risen, inflated for autocorrelation."""
    log_odds: float = 0.7
    """Least rise of the log-odds: a doubling where refusals are rare. Engineering default."""
    level: float = 0.05
    """Share of refused harmless prompts worth a word. Strong chat models refuse a few percent of XSTest's safe prompts
    (Roettger et al. 2023, arXiv 2308.01263)."""


GRPO = synth.like("GRPO")

REFUSED = "seq/refusal_fraction"

CASES = (
    fires("refuses a third of harmless prompts", lambda: GRPO({REFUSED: synth.clipped(synth.ramp(0.02, 0.35), 0, 1)})),
    healthy("steady", lambda: GRPO({REFUSED: synth.clipped(synth.flat(0.02, 0.3), 0, 1)})),
    near_miss("refuses less", lambda: GRPO({REFUSED: synth.clipped(synth.ramp(0.3, 0.05), 0, 1)})),
    near_miss("many from the start", lambda: GRPO({REFUSED: synth.clipped(synth.flat(0.2, 0.05), 0, 1)})),
)


@rule(
    "RWD026",
    "refusal-drift",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=(REFUSED,),
    when=("language",),
    min_points=16,
    across_phases=True,
    implies=("length-collapse", "heldout-regression"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """More and more harmless prompts are refused.

    What it means:
        The share of refusals on prompts that deserve an answer lies well above the run's own opening.

    Why it matters:
        A refusal is short, safe and never wrong: a reward model that prefers it is being optimised for it.

    Usual causes:
        Safety data without harmless look-alikes; a judge that forgives refusals; a penalty on errors but none on
        silence.

    What to try:
        Score twenty refusals of harmless prompts; add harmless look-alikes to the training and evaluation prompts.

    When it is harmless:
        When the prompts became harmful on purpose (a curriculum); then the share belongs to another metric.

    References:
        Roettger et al. 2023 (XSTest), arXiv 2308.01263. Bai et al. 2022, arXiv 2204.05862, section 4.
    """
    refused = view.get(REFUSED)
    assert refused is not None
    change = moved_odds(refused)
    before, now = stretches(refused.value)
    if change.z < params.z or change.difference < params.log_odds or median(now) < params.level:
        return None
    return Detection(
        message=f"refusals of harmless prompts went from {median(before):.1%} to {median(now):.1%}",
        onset=began(view, refused),
        metric=REFUSED,
        evidence={"opening_frac": median(before), "recent_frac": median(now), "z": change.z},
    )
