"""The rule `prompts-misplaced`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

SWAPPED, VARIES = "data/prompt_swapped_frac", "data/prompt_tokens_vary_frac"
ASKED = "data/prompt_unlike_asked_frac"
SAYS = {
    SWAPPED: "of the responses stand, in the loss, after a prompt that they did not answer",
    VARIES: "of the prompts become other tokens than the same prompt did before",
    ASKED: "of the prompts are other tokens in the loss than who generates was given",
}
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompts-misplaced`; engineering defaults where no source is named."""

    frac: float = 0.02
    """Share of the rows that must show it: 0 by construction."""
    rows: int = 2
    """Batches on end that must show it."""


CASES = (
    fires("rows of another group", lambda: GRPO({SWAPPED: synth.jump(0.0, 1.0, 0.5, 0.0)})),
    fires("what came before stays in", lambda: GRPO({SWAPPED: synth.constant(0.0), VARIES: synth.constant(0.9)})),
    fires(
        "padding between question and answer", lambda: GRPO({SWAPPED: synth.constant(0.0), ASKED: synth.constant(1.0)})
    ),
    healthy("each its own", lambda: GRPO({SWAPPED: synth.constant(0.0), VARIES: synth.constant(0.0)})),
    near_miss("one batch", lambda: GRPO({SWAPPED: synth.spikes(0.0, 1.0, at=(0.5,), noise=0.0)})),
)


@rule(
    "ENV085",
    "prompts-misplaced",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    any_of=((SWAPPED, VARIES, ASKED),),
    when=("language",),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "template-changed",
        "draws-unlike-policy",
        "ends-unlike-policy",
        "draws-too-alike",
        "prompts-mixed-in-groups",
        "prompts-alike",
        "prompts-lengthened",
        "prompts-shortened",
        "grad-norm-explosion",
        "zero-std-groups",
        "reward-flat",
        "return-collapse",
        "reward-steps-down",
        "reward-std-collapse",
        "reward-redefined",
        "response-collapse",
        "token-entropy-collapse",
        "entropy-growing",
        "advantage-collapse",
        "smooth-decline",
        "task-too-hard",
        "logprob-mismatch",
        "truncation-growing",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Prompts in the loss are not those of their responses, or hold what was asked before.

    What it means:
        A response that was scored as the answer to one prompt stands after another one where it is trained; or one and
        the same prompt becomes other tokens from batch to batch; or the model generates after other tokens, those of
        padding that it is let see among them, than those after which the answer is trained.

    Why it matters:
        The policy is trained to say the right thing at the wrong place, or is asked in the company of other questions.

    Usual causes:
        Rows put into another order after they were scored; a chat that is not begun anew; a buffer of tokens that is
        shared between rows; padding on the wrong side, or a wrong mask, where it is generated.

    What to try:
        Decode prompt and response of one row of the loss, and compare with what was scored.

    When it is harmless:
        Examples that are drawn anew and put before each prompt on purpose.

    References:
        verl issue 2185 (rows in another order after log-probabilities were made).
    """
    for metric in (SWAPPED, VARIES, ASKED):
        points = view.get(metric)
        off = None if points is None else points.value >= params.frac
        onset = None if points is None or off is None else persistent_onset(points.step, off, params.rows)
        if points is None or off is None or onset is None:
            continue
        value = median(points.value[off & (points.step >= onset[1])])
        return Detection(
            message=f"{value:.0%} {SAYS[metric]}",
            onset=view.onset(*onset),
            metric=metric,
            evidence={"frac": value},
        )
    return None
