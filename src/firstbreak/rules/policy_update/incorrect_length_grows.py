"""The rule `incorrect-length-grows`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, TRAIN, TRUTH, began, moved, rises
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `incorrect-length-grows`: engineering defaults, except where a source is named."""

    z: float = 4.0
    """Standard errors by which the length of wrong responses must have risen, inflated for autocorrelation."""
    ratio: float = 1.3
    """Length of wrong responses over that of the opening. Liu et al. 2025 (arXiv 2503.20783, figure 5) see them
    double."""
    share: float = 0.5
    """Growth of right responses, as a share of the growth of wrong ones, from which both simply think longer."""


GRPO = synth.like("GRPO")

WRONG, RIGHT = "seq/len_incorrect_mean", "seq/len_correct_mean"
STILL = {RIGHT: synth.flat(300, 0.03), "reward/train_mean": synth.flat(0.4, 0.05)}

CASES = (
    fires("wrong answers ramble on", lambda: GRPO({**STILL, WRONG: synth.ramp(400, 900, 0.03)})),
    healthy("both steady", lambda: GRPO({RIGHT: synth.flat(300, 0.03), WRONG: synth.flat(350, 0.03)})),
    near_miss(
        "both think longer",
        lambda: GRPO({RIGHT: synth.ramp(300, 700, 0.03), WRONG: synth.ramp(400, 900, 0.03)}),
    ),
    near_miss(
        "only hard prompts are left wrong: accuracy rises",
        lambda: GRPO(
            {
                RIGHT: synth.flat(300, 0.03),
                WRONG: synth.ramp(400, 900, 0.03),
                "reward/true_objective": synth.ramp(0.3, 0.8, 0.03),
            }
        ),
    ),
)


@rule(
    "POL025",
    "incorrect-length-grows",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    needs=(WRONG, RIGHT),
    when=("groups",),
    min_points=16,
    across_phases=True,
    implies=("truncation-growing", "reward-pays-length", "throughput-decay", "step-time-tail"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Wrong responses grow longer and longer while right ones keep their length.

    What it means:
        With a loss averaged over each response, a long wrong answer is punished less per token than a short one.

    Why it matters:
        Length grows without any gain in accuracy; time and truncation follow.

    Usual causes:
        A loss divided by the response's own length (the original GRPO objective); masks on truncated samples.

    What to try:
        Divide by a constant or by the tokens of the batch, and compare the length of wrong responses after 200 steps.

    When it is harmless:
        When accuracy rises: what stays wrong is harder, and harder tasks take longer.

    References:
        Liu et al. 2025 (Dr. GRPO), arXiv 2503.20783, section 3.
    """
    wrong, right = view.get(WRONG), view.get(RIGHT)
    assert wrong is not None
    assert right is not None
    if min(len(wrong), len(right)) < 2 * LEAST:
        return None
    change, beside = moved(wrong), moved(right)
    if change.z < params.z or change.recent < params.ratio * change.reference or change.reference <= 0:
        return None
    grown = change.recent / change.reference - 1
    if beside.reference > 0 and beside.recent / beside.reference - 1 > params.share * grown:
        return None
    if any(rises(view.get(name)) for name in (*TRUTH, *TRAIN, "reward/success_rate")):
        return None
    return Detection(
        message=f"wrong responses grew from {change.reference:.4g} to {change.recent:.4g} tokens, right ones did not",
        onset=began(view, wrong),
        metric=WRONG,
        evidence={
            "opening_tokens": change.reference,
            "recent_tokens": change.recent,
            "right_recent_tokens": beside.recent,
            "z": change.z,
        },
    )
