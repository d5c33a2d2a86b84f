"""The rule `judge-bias`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, began, moved
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `judge-bias`: engineering defaults, except where a source is named."""

    flips: float = 0.25
    """Share of judgements that turn when the answers are swapped. Zheng et al. 2023 (arXiv 2306.05685, table 2) find
    GPT-4 consistent in two thirds of the pairs, weaker judges in a quarter to a half."""
    agreement_fall: float = 0.1
    """Fall of the agreement with independent judgements. Engineering default."""
    z: float = 4.0
    """Standard errors of that fall, inflated for autocorrelation."""
    points: int = 5
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

FLIPS, AGREES = "reward/judge_flip_fraction", "reward/judge_agreement"

CASES = (
    fires("half of the verdicts turn", lambda: GRPO({FLIPS: synth.clipped(synth.flat(0.5, 0.05), 0, 1)})),
    fires("agreement is lost while training", lambda: GRPO({AGREES: synth.clipped(synth.ramp(0.8, 0.55, 0.02), 0, 1)})),
    healthy("consistent", lambda: GRPO({FLIPS: synth.clipped(synth.flat(0.08, 0.1), 0, 1)})),
    near_miss("steady agreement", lambda: GRPO({AGREES: synth.clipped(synth.flat(0.75, 0.03), 0, 1)})),
    near_miss("one odd batch", lambda: GRPO({FLIPS: synth.spikes(0.08, 0.6, at=(0.5,))})),
)


@rule(
    "RWD028",
    "judge-bias",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=((FLIPS, AGREES),),
    when=("language",),
    min_points=5,
    across_phases=True,
    implies=("proxy-divergence", "reward-pays-length"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The judge's verdict depends on what it must not depend on, or parts from independent verdicts.

    What it means:
        A quarter of the verdicts turn when the answers are swapped, or the agreement with independent verdicts has
        fallen during training.

    Why it matters:
        What the judge likes beside quality (position, length, style) is learned first; its score then stops meaning
        anything.

    Usual causes:
        A single judge, one order only; a judge of the same family; a policy that has found its taste.

    What to try:
        Judge both orders and keep what agrees; a panel; a fixed set with human verdicts scored again every some steps.

    When it is harmless:
        Ties: between equally good answers the order decides.

    References:
        Zheng et al. 2023, arXiv 2306.05685. Wang et al. 2023, arXiv 2305.17926.
    """
    flips, agrees = view.get(FLIPS), view.get(AGREES)
    if flips is not None and len(flips) >= params.points:
        over = flips.value >= params.flips
        onset = persistent_onset(flips.step, over, params.points)
        if onset is not None and bool(over[-params.points :].all()):
            recent = median(flips.value[-params.points :])
            return Detection(
                message=f"{recent:.0%} of the verdicts turn when the two answers are swapped",
                onset=view.onset(*onset),
                metric=FLIPS,
                evidence={"flip_frac": recent},
            )
    if agrees is None or len(agrees) < 2 * LEAST:
        return None
    change = moved(agrees)
    if change.z > -params.z or change.difference > -params.agreement_fall:
        return None
    return Detection(
        message=f"agreement with independent verdicts fell from {change.reference:.0%} to {change.recent:.0%}",
        onset=began(view, agrees),
        metric=AGREES,
        evidence={"opening_frac": change.reference, "recent_frac": change.recent, "z": change.z},
    )
