"""The rule `unsampled-tokens-trained`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

PROMPT, PADDING = "seq/prompt_loss_frac", "seq/padding_loss_frac"
CALLED = {PROMPT: "tokens of the prompt", PADDING: "padding"}


@dataclass(frozen=True)
class Params:
    """Thresholds of `unsampled-tokens-trained`; by definition the share is 0."""

    frac: float = 1e-3
    """Share of the loss's gradient that is no rounding. Engineering default."""
    rows: int = 2
    """Rows in a row that must show it: a lost mask is lost in every batch. Engineering default."""


GRPO = synth.like("GRPO")

CASES = (
    fires("prompt not masked", lambda: GRPO({PROMPT: synth.clipped(synth.flat(0.3, 0.05), 0, 1)})),
    fires("padding trained from the middle on", lambda: GRPO({PADDING: synth.jump(0.0, 0.2, at=0.5)})),
    healthy("masked", lambda: GRPO({PROMPT: synth.constant(0.0), PADDING: synth.constant(0.0)})),
    near_miss("one batch with a strange row", lambda: GRPO({PADDING: synth.spikes(0.0, 0.02, at=(0.4,))})),
    near_miss("rounding", lambda: GRPO({PROMPT: synth.constant(1e-5)})),
)


@rule(
    "POL044",
    "unsampled-tokens-trained",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    any_of=((PROMPT, PADDING),),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("logprob-mismatch", "kl-ref-runaway", "template-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy loss trains tokens that the policy did not sample: the prompt, or padding.

    What it means:
        The gradient of the loss is not 0 where it must be: before the response, or behind its end.

    Why it matters:
        The advantage of a response says nothing of the words of its prompt. They are reinforced and punished all the
        same, the more the longer the prompt, and what the response should learn is diluted.

    Usual causes:
        A mask of attention taken for the mask of the loss; responses cut out of the sequence by a fixed length;
        padding on the other side than the code assumes.

    What to try:
        Print ids, text and mask of one sequence side by side; the loss must not change when prompt and padding do.

    When it is harmless:
        Where a term on the prompt is meant (a supervised loss beside the policy loss).

    References:
        Shao et al. 2024, arXiv 2402.03300, equation 3: the sum runs over the tokens of the responses.
    """
    for metric in (PROMPT, PADDING):
        points = view.get(metric)
        onset = None if points is None else persistent_onset(points.step, points.value > params.frac, params.rows)
        if points is None or onset is None:
            continue
        share = median(points.value[points.step >= onset[1]])
        return Detection(
            message=f"{share:.1%} of the loss's gradient is on {CALLED[metric]}; it should be 0",
            onset=view.onset(*onset),
            metric=metric,
            evidence={"gradient_frac": share},
        )
    return None
