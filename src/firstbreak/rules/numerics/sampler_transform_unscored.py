"""The rule `sampler-transform-unscored`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `sampler-transform-unscored`: engineering defaults, except where a source is named."""

    tolerance: float = 0.03
    """Distance of the mean ratio from 1. At one iteration per batch and the same weights it is 1 but for precision.
    Engineering default."""
    scored_nats: float = 0.05
    """Mean gap of log-probs per token under which both sides clearly score alike."""


COOL = synth.like("GRPO", config={"temperature": 0.6, "num_iterations": 1})
PLAIN = synth.like("GRPO", config={"temperature": 1.0, "top_p": 1.0, "num_iterations": 1})
COOL1 = synth.like("GRPO", n=1, config={"temperature": 0.6, "num_iterations": 1})

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""
RATIOS = ("policy/ratio_first_minibatch", "async/behave_ratio_mean", "policy/ratio_mean")

CASES = (
    fires("temperature 0.6 not scored", lambda: COOL({"policy/ratio_mean": synth.flat(1.9)})),
    fires("one row", lambda: COOL1({"async/behave_ratio_mean": synth.constant(0.2)})),
    healthy("plain sampling", lambda: PLAIN({"policy/ratio_mean": synth.flat(1.0, 0.001)})),
    near_miss(
        "ratios of whole sequences, log-probs agree",
        lambda: COOL({"async/behave_ratio_mean": synth.flat(3.0), "async/logprob_mismatch": synth.flat(0.012)}),
    ),
    near_miss("temperature set and scored", lambda: COOL({"policy/ratio_mean": synth.flat(1.0, 0.002)})),
)


@rule(
    "NUM007",
    "sampler-transform-unscored",
    link=Link.NUMERICS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    any_of=(("policy/ratio_first_minibatch", "async/behave_ratio_mean", "policy/ratio_mean"),),
    when=("language",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "ratio-off-one",
        "ratio-off-at-first-minibatch",
        "behaviour-weight-off-one",
        "behaviour-ess-low",
        "logprob-mismatch",
        "clip-fraction-high",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The sampler's temperature or truncation is missing from the trainer's log-probs.

    What it means:
        The mean ratio is off 1 although each batch is used once, and sampling is not plain (temperature, top_p, top_k
        or min_p).

    Why it matters:
        The ratio compares two different distributions; clipping and importance weights act on an artefact.

    Usual causes:
        The engine reports raw log-probs; the trainer does not divide its logits by the temperature; truncation
        renormalises.

    What to try:
        Ask the engine for processed log-probs, or sample one batch at temperature 1, top_p 1: the ratio must return
        to 1.

    When it is harmless:
        With a mean ratio of 1 the transform is scored on both sides.

    References:
        huggingface/trl issues 4159 and 6789; vLLM option logprobs_mode.
    """
    set_to = _transform(view)
    if set_to is None:
        return Skip("how the sampler transforms its logits is not known", ("config temperature", "config top_p"))
    once = (view.number("num_iterations") or 1) == 1 and (view.number("n_epochs") or 1) == 1
    ratio = view.get(*RATIOS)
    assert ratio is not None
    if not set_to or not len(ratio) or (not once and ratio.metric == "policy/ratio_mean"):
        return None
    if len(ratio) < 3 and not (len(ratio.source) < SHORT and view.log.state != "running"):
        return None
    middle = median(ratio.value)
    lag, gap = view.get("async/staleness_mean"), view.get("async/logprob_mismatch")
    if gap is not None and len(gap) and median(gap.value) <= params.scored_nats:
        return None  # An unscored transform would show here; a ratio of whole sequences may still be far from 1.
    if abs(middle - 1) <= params.tolerance or (lag is not None and len(lag) and median(lag.value) >= 1):
        return None
    return Detection(
        message=f"Mean ratio is {middle:.3g} with {set_to}; it is 1 where both sides score alike",
        onset=view.onset(float(ratio.step[0])),
        metric=ratio.metric,
        evidence={"ratio": middle, "sampling": set_to},
        severity=None if abs(middle - 1) > 0.1 else Severity.WARNING,
    )


def _transform(view: RunView) -> str | None:
    """Name the sampling transforms in force; empty for plain sampling, None when nothing is known."""
    plain = {"temperature": 1.0, "top_p": 1.0, "min_p": 0.0}
    known = {key: view.number(key) for key in (*plain, "top_k")}
    if all(value is None for value in known.values()):
        return None
    parts = [f"{key} {known[key]:g}" for key, usual in plain.items() if known[key] not in (None, usual)]
    top_k = known["top_k"]
    if top_k is not None and top_k > 0:
        parts.append(f"top_k {top_k:g}")
    return ", ".join(parts)
