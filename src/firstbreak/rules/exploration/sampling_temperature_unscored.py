"""The rule `sampling-temperature-unscored`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

DRAWN, SCORED = "sample/temperature", "sample/temperature_scored"


@dataclass(frozen=True)
class Params:
    """Thresholds of `sampling-temperature-unscored`; engineering defaults."""

    tolerance: float = 0.01
    """Relative difference that counts as none: both are settings, not measurements."""
    factor: float = 2.0
    """Ratio of the two, either way, from which it is an error: odds of tokens squared or rooted."""
    rows: int = 3
    """Rows in a row that must show it."""


GRPO = synth.like("GRPO")


def both(drawn: synth.Shape, scored: float = 1.0) -> dict[str, synth.Shape]:
    """What the callback for TRL adds."""
    return {DRAWN: drawn, SCORED: synth.constant(scored)}


CASES = (
    fires("drawn at 0.1", lambda: GRPO(both(synth.constant(0.1)))),
    fires("drawn at 5 from half-way on", lambda: GRPO(both(synth.jump(1.0, 5.0, at=0.5, noise=0.0)))),
    fires("drawn at 0.6, scored at 1", lambda: GRPO(both(synth.constant(0.6)))),
    fires("greedy", lambda: GRPO(both(synth.constant(0.0)))),
    healthy("both at 1", lambda: GRPO(both(synth.constant(1.0)))),
    near_miss("both at 0.6", lambda: GRPO(both(synth.constant(0.6), 0.6))),
    near_miss("a temperature that falls on both sides", lambda: GRPO({DRAWN: synth.ramp(1.2, 0.8, 0.0),
                                                                      SCORED: synth.ramp(1.2, 0.8, 0.0)})),
)  # fmt: skip


@rule(
    "EXP031",
    "sampling-temperature-unscored",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(DRAWN, SCORED),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "sampling-temperature-high",
        "sampling-temperature-low",
        "sampler-transform-unscored",
        "policy-jumps",
        "truncation-growing",
        "no-eos-from-start",
        "response-collapse",
        "zero-std-groups",
        "advantage-collapse",
        "reward-redefined",
        "reward-std-collapse",
        "reward-saturated-from-start",
        "reward-flat",
        "task-too-hard",
        "token-entropy-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses are drawn at one temperature, and the loss is that of another.

    What it means:
        The settings of generation hold another temperature than the one by which the loss divides the logits.

    Why it matters:
        What is sampled is not the policy that is trained: at a lower temperature groups hold one answer and nothing is
        explored, at a higher one the loss pushes tokens that the policy itself would hardly say.

    Usual causes:
        A temperature in `generation_kwargs`, which reaches the sampler only; a `generation_config.json` of the model;
        settings of generation that a callback or an evaluation changed and did not put back.

    What to try:
        Set the temperature in the trainer's own arguments, which both sides read, and nowhere else.

    When it is harmless:
        Where importance weights with the sampler's own log-probabilities correct the difference.

    References:
        huggingface/trl issue 4159.
    """
    drawn, scored = view.get(DRAWN), view.get(SCORED)
    assert drawn is not None
    assert scored is not None
    other = np.interp(drawn.step, scored.step, scored.value)
    apart = np.abs(drawn.value - other) > params.tolerance * other
    onset = persistent_onset(drawn.step, apart, params.rows)
    if onset is None:
        return None
    later = apart & (drawn.step >= onset[1])
    warm, cold = median(drawn.value[later]), median(other[later])
    far = max(warm, cold) >= params.factor * min(warm, cold)
    return Detection(
        message=f"responses are drawn at temperature {warm:g}, the loss is that of temperature {cold:g}",
        onset=view.onset(*onset),
        metric=drawn.metric,
        evidence={"temperature": warm, "temperature_scored": cold},
        severity=Severity.ERROR if far else None,
    )
