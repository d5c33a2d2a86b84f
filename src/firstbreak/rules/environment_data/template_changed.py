"""The rule `template-changed`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

CHANGED, OFF = "data/template_changed", "data/prompt_tokens_off"
SAYS = {
    CHANGED: "the same prompt becomes other tokens than it did at the first batch",
    OFF: "a prompt of plain text becomes other tokens than its tokenizer makes of it",
}
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `template-changed`; engineering defaults where no source is named."""

    rows: int = 2
    """Batches on end that must show it; both are 0 by construction."""


CASES = (
    fires("half-way", lambda: GRPO({CHANGED: synth.jump(0.0, 1.0, 0.5, 0.0)})),
    fires("from the start", lambda: GRPO({CHANGED: synth.constant(0.0), OFF: synth.constant(1.0)})),
    healthy("as ever", lambda: GRPO({CHANGED: synth.constant(0.0), OFF: synth.constant(0.0)})),
    near_miss("one batch", lambda: GRPO({CHANGED: synth.spikes(0.0, 1.0, at=(0.5,), noise=0.0)})),
)


@rule(
    "ENV040",
    "template-changed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    any_of=((CHANGED, OFF),),
    when=("language",),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-steps-down",
        "return-collapse",
        "zero-std-groups",
        "reward-redefined",
        "entropy-growing",
        "task-too-hard",
        "truncation-growing",
        "prompts-lengthened",
        "prompts-shortened",
        "prompts-alike",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The template, or whatever turns a prompt into tokens, is not the one that it was or should be.

    What it means:
        One fixed prompt is turned into tokens at every batch. The tokens changed, or, where the prompt is plain
        text, are not those of the tokenizer.

    Why it matters:
        The model is asked in a form that it was not trained on; scores before and after, and those of
        evaluations with the right template, cannot be compared.

    Usual causes:
        A template set or patched at run time; special tokens added twice or not at all; another tokenizer
        loaded on resuming; a system prompt that a wrapper adds.

    What to try:
        Print the token ids of one prompt at the start and now, beside those of the evaluation.

    When it is harmless:
        A prefix that a trainer derived from TRL's adds on purpose to plain text, from the first batch on.

    References:
        Hugging Face, "Chat templates: an end to the silent performance killer", 2023.
    """
    for metric in (CHANGED, OFF):
        points = view.get(metric)
        onset = None if points is None else persistent_onset(points.step, points.value > 0, params.rows)
        if points is None or onset is None:
            continue
        return Detection(
            message=f"{SAYS[metric]}, in {(points.value > 0).sum()} batches",
            onset=view.onset(*onset),
            metric=metric,
            evidence={"batches": int((points.value > 0).sum())},
            severity=Severity.ERROR if metric == CHANGED else None,
        )
    return None
