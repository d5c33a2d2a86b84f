"""The rule `filtered-reward-hides-fall`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, began, moved, rises
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `filtered-reward-hides-fall`: engineering defaults, except where a source is named."""

    z: float = 4.0
    """Standard errors by which the reward of everything sampled must have fallen, inflated for autocorrelation."""
    share: float = 0.25
    """Fall of what is trained on, as a share of the fall of everything, from which both say the same."""


GRPO = synth.like("GRPO")

TRAINED, ALL = "reward/train_mean", "reward/rollout_mean"

CASES = (
    fires("kept groups look steady", lambda: GRPO({TRAINED: synth.flat(0.5, 0.03), ALL: synth.ramp(0.6, 0.25, 0.03)})),
    healthy("both rise", lambda: GRPO({ALL: synth.ramp(0.1, 0.75, 0.03, until=0.8)})),
    near_miss("both fall", lambda: GRPO({TRAINED: synth.ramp(0.6, 0.3, 0.03), ALL: synth.ramp(0.6, 0.25, 0.03)})),
    near_miss(
        "steady by construction", lambda: GRPO({TRAINED: synth.flat(0.5, 0.03), ALL: synth.ramp(0.3, 0.6, 0.03)})
    ),
)


@rule(
    "EVA013",
    "filtered-reward-hides-fall",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.LOGGING,
    needs=(TRAINED, ALL),
    when=("groups",),
    min_points=16,
    across_phases=True,
    implies=("return-collapse",),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward of the samples that are kept hides that the reward of all samples falls.

    What it means:
        After filtering, only groups with a difference are trained on, and their mean stays near a half. The mean over
        everything sampled has fallen.

    Why it matters:
        The curve that is usually watched says nothing any more: by construction it can neither rise nor fall much.

    Usual causes:
        Dynamic sampling; rejection of stale or silent groups; a dashboard of the trained batch only.

    What to try:
        Watch the reward before filtering, and an evaluation on fixed prompts.

    When it is harmless:
        When the prompts became harder on purpose (a curriculum).

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.2 (dynamic sampling).
    """
    trained, everything = view.get(TRAINED), view.get(ALL)
    assert trained is not None
    assert everything is not None
    if min(len(trained), len(everything)) < 2 * LEAST:
        return None
    fall, beside = moved(everything), moved(trained)
    if fall.z > -params.z or beside.difference < params.share * fall.difference or rises(everything):
        return None
    return Detection(
        message=f"reward of all samples fell from {fall.reference:.3g} to {fall.recent:.3g}, of the kept ones not",
        onset=began(view, everything),
        metric=ALL,
        evidence={"opening": fall.reference, "recent": fall.recent, "kept_recent": beside.recent, "z": fall.z},
    )
