"""The rule `behaviour-weight-off-one`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `behaviour-weight-off-one`: engineering defaults, except where a source is named."""

    near: float = 0.1
    """Distance of the mean weight from 1 worth a warning: uncapped, its expectation is exactly 1."""
    lo: float = 0.5
    """Lower end of the band outside which the data no longer fit the policy (verl, rollout correction guide)."""
    hi: float = 2.0
    """Upper end of that band."""
    points: int = 5
    """Consecutive newest points."""
    explained: float = 2.0
    """The deviation is arithmetic where |log weight| is within this many times mean token gap times length."""


GRPO = synth.like("GRPO")
PAIR = synth.like("GRPO", n=2)

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""

CASES = (
    fires("weights far below 1", lambda: GRPO({"async/behave_ratio_mean": synth.flat(0.4)})),
    fires("two rows far above 1", lambda: PAIR({"async/behave_ratio_mean": synth.constant(2.6)})),
    healthy("weights at 1", lambda: GRPO({"async/behave_ratio_mean": synth.flat(1.0, 0.01)})),
    near_miss("one odd batch", lambda: GRPO({"async/behave_ratio_mean": synth.spikes(1.0, 1.8, at=(0.5,))})),
    near_miss(
        "sequence weights, as the token gap predicts",
        lambda: GRPO({"async/behave_ratio_mean": synth.flat(3.0), "async/logprob_mismatch": synth.constant(0.012)}),
    ),
)


@rule(
    "DAT002",
    "behaviour-weight-off-one",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("async/behave_ratio_mean",),
    params=Params(),
    cases=CASES,
    implies=("behaviour-ess-low", "behaviour-cap-saturated", "grad-norm-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The mean behaviour weight is not 1: the sampled tokens do not come from the policy the learner believes.

    What it means:
        The mean of pi_proximal / pi_behave over sampled tokens has expectation 1, whatever the lag. It is off.

    Why it matters:
        Either probabilities are scored differently on both sides, or tails and caps distort the average.

    Usual causes:
        Sampling temperature or truncation not scored; stale weights; a cap that binds; another precision.

    What to try:
        Score one sampled batch on both sides at the same version; set temperature 1 and top_p 1.

    When it is harmless:
        Weights of whole sequences: a tiny gap per token times the length makes a large factor.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 5.2. Yao et al. 2025 (truncated importance sampling).
    """
    weight = view.get("async/behave_ratio_mean")
    assert weight is not None
    if not len(weight):
        return None
    whole = len(weight.source) < SHORT and view.log.state != "running"
    count = len(weight) if whole else params.points
    if len(weight) < count:
        return None
    recent = weight.value[-count:]
    middle = median(recent)
    off = np.abs(recent - 1) > params.near
    far = (recent < params.lo) | (recent > params.hi)
    if not bool(off.all()) or _expected(view, middle, params):
        return None
    onset = persistent_onset(weight.step, np.abs(weight.value - 1) > params.near, count)
    assert onset is not None
    token = "seq" not in (weight.source.aggregation + weight.source.note)
    return Detection(
        message=f"Mean behaviour weight is {middle:.3g}; its expectation is 1",
        onset=view.onset(*onset),
        metric=weight.metric,
        evidence={"weight": middle, "points": count},
        severity=Severity.ERROR if bool(far.all()) and token and not whole else None,
    )


def _expected(view: RunView, weight: float, params: Params) -> bool:
    """Whether the gap per token times the length already explains the weight (a product over a sequence)."""
    gap, length = view.get("async/logprob_mismatch"), view.get("seq/len_mean")
    tokens = median(length.value[-8:]) if length is not None and len(length) else view.number("max_response_tokens")
    if gap is None or not len(gap) or tokens is None or weight <= 0 or median(gap.value[-8:]) > 0.05:
        return False
    return abs(float(np.log(weight))) <= params.explained * median(gap.value[-8:]) * tokens
