"""The rule `length-lost`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, ended, rises
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `length-lost`. Engineering defaults where no source is named."""

    ratio: float = 0.2
    """Length at the end over that of the opening. An answer that needed reasoning does not fit into a fifth; the
    trivial strings that fool judges have a handful of tokens (Zhao et al. 2025, arXiv 2507.08794)."""
    rows: int = 8
    """Rows from which opening and end are medians of stretches; below, the first and the last row of an ended log."""


GRPO = synth.like("GRPO")

FEW = synth.like("GRPO", n=2, drop=("reward/train_mean",))
BLIND = synth.like("GRPO", drop=("reward/train_mean",))
LENGTH = "seq/len_mean"

CASES = (
    fires("a tenth is left, no score", lambda: BLIND({LENGTH: synth.ramp(220, 22, 0.02, until=0.6)})),
    fires("the same in two rows", lambda: FEW({LENGTH: synth.ramp(216, 22, 0.0)})),
    healthy("steady", lambda: BLIND({})),
    near_miss("halves", lambda: BLIND({LENGTH: synth.ramp(220, 100, 0.02)})),
    near_miss("learns to be brief: the reward rises", lambda: GRPO({LENGTH: synth.ramp(220, 22, 0.02, until=0.6)})),
)


@rule(
    "RWD033",
    "length-lost",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=(LENGTH,),
    when=("language",),
    across_phases=True,
    implies=("length-collapse", "response-collapse", "token-entropy-collapse"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses lost most of their length, and no logged score says that they are still right.

    What it means:
        What is left is a fifth of the opening's length or less; neither a rising reward nor a rising score shows that
        so few words do.

    Why it matters:
        An empty reasoning block, a bare number or a refusal meets many shaping rewards, and destroys what the model
        could.

    Usual causes:
        Rewards for form that short answers meet; a length penalty too strong; no anchor to the reference (KL
        coefficient 0, perhaps without being asked for).

    What to try:
        Read twenty answers; score start and now on held-out problems; log every reward component.

    When it is harmless:
        Tasks that need few words; then the task's own score rises, and the rule is silent once it is logged.

    References:
        Zhao et al. 2025, "One token to fool LLM-as-a-judge", arXiv 2507.08794. Engineering defaults.
    """
    length = view.get(LENGTH)
    assert length is not None
    short = len(length) < params.rows
    if len(length) < 2 or (short and not ended(view)):
        return None
    if short:
        first, last = length.first, length.last
    else:
        size = max(3, len(length) // 10)
        first, last = median(length.value[:size]), median(length.value[-size:])
    if first <= 0 or last > params.ratio * first:
        return None
    scores = [view.get(name) for name in (*TRAIN, *TRUTH, "reward/success_rate")]
    if any(rises(points) or (points is not None and points.last > points.first) for points in scores):
        return None
    small = length.value <= params.ratio * first
    onset = persistent_onset(length.step, small, 1 if short else 3)
    if onset is None:
        return None
    anchor = view.number("kl_coef")
    return Detection(
        message=f"responses shrank from {first:.4g} to {last:.4g} tokens"
        + (", with a KL coefficient of 0" if anchor == 0 else ""),
        onset=view.onset(*onset),
        metric=LENGTH,
        evidence={"first_tokens": first, "last_tokens": last, "unanchored": anchor == 0},
    )
